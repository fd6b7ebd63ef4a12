"""Nested metrics and configs as one level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flatten(nested: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """`nested` with its inner mappings spread out: {"a": {"b": 1}} is {"a/b": 1}."""
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping) and value:
            flat.update(flatten(value, f"{key}/"))
        else:
            flat[key] = value
    return flat
