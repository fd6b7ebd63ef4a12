"""Clusters that exist in a cloud, by their tag, whether this machine knows them or not."""

from __future__ import annotations

import os
from collections.abc import Iterable

from overtone.cluster.listing_of_clusters import recorded_config
from overtone.cluster.provider_modules import about, loaded, provider_types
from overtone.cluster.state import State
from overtone.errors import OvertoneError


def cloud_clusters(states: Iterable[State]) -> tuple[list[tuple[str, str]], list[str]]:
    """Ask each cloud that a known cluster or the environment names.

    Returns:
        Pairs of a place ("aws eu-west-1", "gcp my-project") and a cluster's name; and the errors of clouds
        that did not answer.
    """
    places, found, errors = set(), [], []
    for kind in provider_types():
        try:
            listing = about(kind).listing
        except OvertoneError as error:  # of another package
            errors.append(str(error))
            continue
        names = listing.variables if listing else ()
        places |= {(kind, os.environ[name]) for name in names if os.environ.get(name)}
    for state in states:
        try:
            provider = recorded_config(state).provider
        except OvertoneError:
            continue
        listing = about(provider.type).listing
        if listing and (place := provider.settings.get(listing.setting)):
            places.add((provider.type, str(place)))
    for kind, place in sorted(places):
        listing = about(kind).listing
        assert listing is not None
        try:
            found += [(f"{kind} {place}", name) for name in loaded(listing.function)(place)]
        except OvertoneError as error:
            errors.append(f"{kind} {place}: {error}")
        except Exception as error:  # of somebody else's provider
            errors.append(f"{kind} {place}: {type(error).__name__}: {error}")
    return found, errors
