"""Clusters that exist in a cloud, by their tag, whether this machine knows them or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from overtone.cluster.listing_of_clusters import recorded_config
from overtone.cluster.state import State
from overtone.errors import OvertoneError


class _Places(NamedTuple):
    """Where a cloud has clusters.

    Attributes:
        setting: The setting of the provider that names such a place.
        variables: Variables with a place in which clusters are looked for besides those of known clusters.
    """

    setting: str
    variables: tuple[str, ...]


_CLOUDS: Mapping[str, _Places] = {
    "aws": _Places("region", ("AWS_REGION", "AWS_DEFAULT_REGION")),
    "gcp": _Places("project", ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")),
}


def cloud_clusters(states: Iterable[State]) -> tuple[list[tuple[str, str]], list[str]]:
    """Ask each cloud that a known cluster or the environment names.

    Returns:
        Pairs of a place ("aws eu-west-1", "gcp my-project") and a cluster's name; and the errors of clouds
        that did not answer.
    """
    places = {
        (cloud, os.environ[name])
        for cloud, one in _CLOUDS.items()
        for name in one.variables
        if os.environ.get(name)
    }
    for state in states:
        try:
            provider = recorded_config(state).provider
        except OvertoneError:
            continue
        if provider.type in _CLOUDS and (place := provider.settings.get(_CLOUDS[provider.type].setting)):
            places.add((provider.type, str(place)))
    found, errors = [], []
    for cloud, place in sorted(places):
        module: Any = import_module(f"overtone.cluster.providers.{cloud}")
        try:
            found += [(f"{cloud} {place}", name) for name in module.clusters(place)]
        except OvertoneError as error:
            errors.append(f"{cloud} {place}: {error}")
    return found, errors
