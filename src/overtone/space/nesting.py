"""Configs as data: as one level, and with their tuples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PLACE = "__space__"
"""Marks a value that is given by its place in the space."""

TUPLE = "__tuple__"
"""Marks a tuple."""

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


def with_tuples(data: Any) -> Any:
    """Return `data` with its tuples; descriptions of values that are not data (classes) are kept."""
    if type(data) is dict:
        if TUPLE in data:
            return tuple(map(with_tuples, data[TUPLE]))
        return {key: item if type(item) in _FLAT else with_tuples(item) for key, item in data.items()}
    return list(map(with_tuples, data)) if type(data) is list else data


def tagged_tuples(value: Any) -> Any:
    """Return `value` with its tuples as data, so that `with_tuples` returns it."""
    if type(value) is tuple:
        return {TUPLE: list(map(tagged_tuples, value))}
    if type(value) is dict:
        return {key: tagged_tuples(item) for key, item in value.items()}
    return list(map(tagged_tuples, value)) if type(value) is list else value
