"""Clusters that exist in a cloud, by their tag, whether this machine knows them or not."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from overtone.cluster.listing_of_clusters import recorded_config
from overtone.cluster.state import State
from overtone.errors import OvertoneError

_REGIONS = {"aws": ("AWS_REGION", "AWS_DEFAULT_REGION")}
"""The variables with a region, in which clusters are looked for besides those of known clusters."""


def cloud_clusters(states: Iterable[State]) -> tuple[list[tuple[str, str]], list[str]]:
    """Ask each cloud that a known cluster or the environment names.

    Returns:
        Pairs of a place ("aws eu-west-1") and a cluster's name; and the errors of clouds that did not answer.
    """
    places = {("aws", os.environ[name]) for name in _REGIONS["aws"] if os.environ.get(name)}
    for state in states:
        try:
            provider = recorded_config(state).provider
        except OvertoneError:
            continue
        if provider.type in _REGIONS and provider.settings.get("region"):
            places.add((provider.type, str(provider.settings["region"])))
    found, errors = [], []
    for kind, region in sorted(places):
        module: Any = import_module(f"overtone.cluster.providers.{kind}")
        try:
            found += [(f"{kind} {region}", name) for name in module.clusters(region)]
        except OvertoneError as error:
            errors.append(f"{kind} {region}: {error}")
    return found, errors
