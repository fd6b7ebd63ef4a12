"""Ends a cluster's machines from its head: `python -m overtone.cluster.end_machines JSON`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.provider_modules import about, loaded


def machine_of(config: ClusterConfig) -> dict[str, Any] | None:
    """Return how a head ends the cluster's machines, as a value for JSON; None if they stay.

    It has `function` and `settings`, which the function gets beside the cluster's name, and `shuts_down`; see
    `provider.Ending`.
    """
    ending = about(config.provider.type).ending
    if ending is None:
        return None
    settings = {name: config.provider.settings.get(name) for name in ending.settings}
    return {"function": ending.function, "settings": settings, "shuts_down": ending.shuts_down}


def shuts_down(machine: Mapping[str, Any]) -> bool:
    """Return whether a machine of this provider ends when it shuts down."""
    return bool(machine["shuts_down"])


def check_ending(machine: Mapping[str, Any] | None) -> None:
    """Check on the head that it can end the machines.

    Raises:
        ProviderError: The function for it is not installed here.
    """
    if machine is not None and machine["function"]:
        loaded(machine["function"])


def main(text: str) -> None:
    """End the machines.

    Args:
        text: JSON object of `machine_of`, with the cluster's `name`.
    """
    given = json.loads(text)
    loaded(given["function"])(name=given["name"], **given["settings"])


if __name__ == "__main__":
    main(sys.argv[1])
