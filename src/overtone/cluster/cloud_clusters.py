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
    functions: dict[tuple[str, str], str] = {}
    found, errors = [], []
    for kind in provider_types():
        try:
            listing = about(kind).listing
        except OvertoneError as error:  # of another package
            errors.append(str(error))
            continue
        for name in listing.variables if listing else ():
            if listing and (place := os.environ.get(name)):
                functions[kind, place] = listing.function
    for state in states:
        try:
            provider = recorded_config(state).provider
        except OvertoneError:
            continue
        listing = about(provider.type).listing
        if listing and (place := provider.settings.get(listing.setting)):
            functions[provider.type, str(place)] = listing.function
    for (kind, place), function in sorted(functions.items()):
        try:
            found += [(f"{kind} {place}", name) for name in loaded(function)(place)]
        except OvertoneError as error:
            errors.append(f"{kind} {place}: {error}")
        except Exception as error:  # of somebody else's provider
            errors.append(f"{kind} {place}: {type(error).__name__}: {error}")
    return found, errors
