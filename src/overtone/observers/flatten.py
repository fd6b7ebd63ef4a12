"""Nested metrics and configs as one level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# a look-up: to ask whether something is a Mapping takes ten times as long
_FLAT = frozenset({float, int, str, bool, type(None)})


def flatten(nested: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """`nested` with its inner mappings spread out: {"a": {"b": 1}} is {"a/b": 1}."""
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        key = f"{above}{name}"
        if type(value) not in _FLAT and isinstance(value, Mapping) and value:
            flat.update(flatten(value, f"{key}/"))
        else:
            flat[key] = value
    return flat
