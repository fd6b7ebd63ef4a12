"""Nested mappings as one level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PLACE = "__space__"
"""Marks a value that is given by its place in the space."""

_FLAT = frozenset({float, int, str, bool, type(None)})  # a look-up takes a tenth of asking for a Mapping


def flatten(nested: Mapping[Any, Any], above: str = "") -> dict[str, Any]:
    """Return `nested` without nesting: {"a": {"b": 1}} as {"a/b": 1}. Lists and empty dicts are values.

    The place of a value that is not data (see `data`) becomes its description.
    """
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        key = f"{above}{name}"
        if type(value) in _FLAT or not isinstance(value, Mapping) or not value:
            flat[key] = value
        elif PLACE in value:
            flat[key] = str(value.get("shown"))
        else:
            flat.update(flatten(value, f"{key}/"))
    return flat
