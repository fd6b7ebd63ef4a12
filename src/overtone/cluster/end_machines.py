"""Ends a cluster's machines from its head: `python -m overtone.cluster.end_machines JSON`."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from overtone.cluster.config import ClusterConfig


class Ending(NamedTuple):
    """A provider's way to end machines from the head, workers first.

    Attributes:
        module, function: The function that ends them.
        settings: The settings of the provider that the function takes.
        takes_name: Whether the function takes the cluster's name.
        shuts_down: Whether a machine that shuts down is ended by its provider.
    """

    module: str
    function: str
    settings: tuple[str, ...] = ()
    takes_name: bool = True
    shuts_down: bool = True


ENDINGS = {
    "aws": Ending("overtone.cluster.providers.aws", "end_from_head", ("region",)),
    "gcp": Ending("overtone.cluster.providers.gcp", "end_from_head", ("project", "zone")),
    "kubernetes": Ending(
        "overtone.cluster.kubernetes.suspension", "suspend_cluster", takes_name=False, shuts_down=False
    ),
}
"""By the type of the provider; machines of other providers stay when a cluster ends."""


def machine_of(config: ClusterConfig) -> dict[str, Any] | None:
    """Return the provider's type and the settings that ending its machines needs; None if they stay."""
    ending = ENDINGS.get(config.provider.type)
    if ending is None:
        return None
    settings = {name: config.provider.settings.get(name) for name in ending.settings}
    return {"type": config.provider.type, **settings}


def shuts_down(machine: Mapping[str, Any]) -> bool:
    """Return whether a machine of this provider ends when it shuts down."""
    return ENDINGS[machine["type"]].shuts_down


def main(text: str) -> None:
    """End the machines.

    Args:
        text: JSON object of `machine_of`, with the cluster's `name`.
    """
    given = json.loads(text)
    ending, name = ENDINGS[given.pop("type")], given.pop("name")
    if ending.takes_name:
        given["name"] = name
    getattr(importlib.import_module(ending.module), ending.function)(**given)


if __name__ == "__main__":
    main(sys.argv[1])
