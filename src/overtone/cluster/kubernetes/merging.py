"""Merges the `raw` of a config into a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = ("name", "groupName", "key")
"""The fields by which two items of a list are the same one."""


def merged(base: Any, raw: Any) -> Any:
    """Return `base` with the values of `raw`, which win; neither is changed.

    Objects are merged field by field. Items of lists of objects are merged with the item of the same `name`,
    `groupName` or `key`; items without one, with the item at the same position. Other lists are replaced.
    """
    if isinstance(base, Mapping) and isinstance(raw, Mapping):
        both = {key: merged(base[key], value) if key in base else value for key, value in raw.items()}
        return {**base, **both}
    if _are_objects(base) and _are_objects(raw):
        return _merged_items(base, raw)
    return raw


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _merged_items(base: list[Any], raw: list[Any]) -> list[Any]:
    items = list(base)
    for position, one in enumerate(raw):
        key = next((key for key in _KEYS if key in one), None)
        if key is None:
            at = position if position < len(items) else None
        else:
            at = next((i for i, item in enumerate(items) if item.get(key) == one[key]), None)
        if at is None:
            items.append(one)
        else:
            items[at] = merged(items[at], one)
    return items
