"""Checks of the engine's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overtone.core.resources import bundle
from overtone.errors import OvertoneError, ResourceError
from overtone.schedulers.arguments import is_number


def most_of(max_resources: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the maximum amounts to use at once, by the names that bundles use; 0 is a limit as well.

    Raises:
        ResourceError: The argument is not a dict of amounts.
    """
    if max_resources is None:
        return {}
    if not isinstance(max_resources, Mapping):
        raise ResourceError(f'max_resources={max_resources!r} must look like {{"gpu": 8}}')
    found: dict[str, float] = {}
    for name, amount in max_resources.items():
        ((key, _),) = bundle({name: 1})
        if amount is not None:
            found[key] = dict(bundle({name: amount})).get(key, 0.0)
    return found


def seconds(name: str, value: Any) -> float:
    """Return a number of seconds, 0 or more.

    Raises:
        OvertoneError: The value is not such a number.
    """
    if not (is_number(value) and value >= 0):
        raise OvertoneError(f"{name}={value!r} must be a number of seconds, 0 or more")
    return float(value)


def priority_of(value: Any) -> float:
    """Return the priority: any number except NaN.

    Raises:
        OvertoneError: The value is not a number.
    """
    if not is_number(value) or value != value:
        raise OvertoneError(f"priority={value!r} must be a number; that of most runs is 0")
    return float(value)


def unknown(most: Iterable[str], nodes: Iterable[Mapping[str, float]]) -> list[str]:
    """Return the resource names in `most` that no node has."""
    has = {name for node in nodes for name in node}
    return sorted(set(most) - has - {"cpu", "gpu", "memory"})
