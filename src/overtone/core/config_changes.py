"""A config with some values replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.types import Config


def merge(config: Config, changes: Mapping[str, Any]) -> Config:
    """Return a config with some values replaced, also in nested dicts; "a/b" names a nested value."""
    found = dict(config)
    for name, value in changes.items():
        if isinstance(name, str) and name not in found and "/" in name:
            outer, _, name = name.partition("/")
            value, name = {name: value}, outer
        inner = found.get(name)
        if isinstance(inner, dict) and isinstance(value, Mapping):
            value = merge(inner, value)
        found[name] = value
    return found


def complete_freely(values: Config, index: int, source: Config | None = None) -> Config:
    """Return the config of an added trial where no space restricts it: see `Template.complete`."""
    return merge(source, values) if source is not None else values
