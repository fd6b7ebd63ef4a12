"""Where a cluster is: this machine's records have one cluster of a name, a cloud may have others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.provider_modules import about
from overtone.errors import OvertoneError


def place_of(config: ClusterConfig) -> str:
    """Return where the cluster of a config is, such as "aws eu-west-1" or "local ubuntu 10.0.0.1"."""
    provider = config.provider
    words = [provider.settings.get(name) for name in about(provider.type).place]
    if config.hosts:
        words.append(config.head)
    return " ".join([provider.type, *(str(word) for word in words if word is not None)])


def check_place(config: ClusterConfig, info: Mapping[str, Any]) -> None:
    """Check that a config names the cluster of this name that this machine has started, if there is one.

    Args:
        config: The config.
        info: The records of the cluster; see `State.info`.

    Raises:
        OvertoneError: It is another cluster, whose records must not be lost; the message says what to do.
    """
    recorded, place = info.get("place"), place_of(config)
    if info.get("phase") in (None, "down") or recorded in (None, place) or _has_lost_its_head(config, info):
        return
    raise OvertoneError(
        f"{config.source} has the cluster {config.name} on {place}, and this machine has started another "
        f"{config.name} on {recorded}, by {info.get('source')}: take that down (overtone down "
        f"{config.name}), or choose another name"
    )


def _has_lost_its_head(config: ClusterConfig, info: Mapping[str, Any]) -> bool:
    """Return whether this is the config of the cluster, and its head was taken off the list of hosts."""
    if not config.hosts or info.get("source") != os.path.abspath(config.source):
        return False
    of_user, _, head = str(info["place"]).rpartition(" ")
    return of_user == place_of(config).rpartition(" ")[0] and head not in config.hosts
