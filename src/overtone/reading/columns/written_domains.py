"""The domains of a space as a journal's header has them, by flattened name of the hyperparameter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from overtone.space.nesting import TUPLE

MOST_OPTIONS = 50
"""Domains with more options are told without them."""

_DOMAIN = "__domain__"
_OWN_KEYS = frozenset({"__opaque__", "__space__"})
_LOGARITHMIC = frozenset({"loguniform", "qloguniform", "lograndint", "qlograndint"})
_HALF_OPEN = frozenset({"randint", "lograndint"})
_PRIOR, _COMPUTED = "normal_prior", "sample_from"
_DEEPEST, _LONGEST = 50, 1000


def log_parameters(space: Any) -> frozenset[str]:
    """Return the flattened names of parameters with a logarithmic domain, in any branch.

    Args:
        space: The space as data, as `space.data.space_to_data` writes it; anything else has none.
    """
    return frozenset(name for name, node in _leaves(space, "", 0) if _kind(node) in _LOGARITHMIC)


def domains(space: Any) -> list[dict[str, Any]]:
    """Return what the hyperparameters of a space can be, of all branches together.

    Args:
        space: See `log_parameters`.

    Returns:
        A list of {"name", "low", "high", "is_integer", "options"}. "low" and "high" are inclusive limits,
        None if there are none. "options" are JSON data: empty if there are none, or more than
        `MOST_OPTIONS`.
    """
    found: dict[str, dict[str, Any]] = {}
    options: dict[str, dict[str, Any]] = {}
    for name, node in _leaves(space, "", 0):
        own = found.setdefault(name, {"name": name, "low": None, "high": None, "is_integer": True})
        kind = _kind(node)
        if kind is None:
            text = json.dumps(node)
            options.setdefault(name, {})[text] = node
        elif isinstance(low := node.get("lower"), (int, float)) and isinstance(
            high := node.get("upper"), (int, float)
        ):
            high = high - 1 if kind in _HALF_OPEN else high
            own["low"] = low if own["low"] is None else min(low, own["low"])
            own["high"] = high if own["high"] is None else max(high, own["high"])
        is_integer = isinstance(node, int) if kind is None else kind.endswith("randint")
        own["is_integer"] = own["is_integer"] and is_integer
    for name, own in found.items():
        known = options.get(name, {})
        is_short = len(known) <= MOST_OPTIONS and all(len(text) <= _LONGEST for text in known)
        own["options"] = list(known.values()) if is_short else []
    return list(found.values())


def _kind(node: Any) -> str | None:
    """Return the name of a domain; None for a value."""
    return str(node[_DOMAIN]) if isinstance(node, Mapping) and _DOMAIN in node else None


def _leaves(node: Any, name: str, depth: int, is_option: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield the domains of numbers, and the values in options, by name."""
    if depth > _DEEPEST:
        return
    if not isinstance(node, Mapping):
        if is_option:
            yield name, node
        return
    if TUPLE in node or not _OWN_KEYS.isdisjoint(node):
        return
    options = node.get("categories") if _DOMAIN in node else node.get("grid_search")
    if node.get(_DOMAIN) == _PRIOR:
        yield from _leaves(node.get("domain"), name, depth + 1)
    elif isinstance(options, list):
        for option in options:
            yield from _leaves(option, name, depth + 1, is_option=True)
    elif _DOMAIN in node:
        if node[_DOMAIN] != _COMPUTED:
            yield name, node
    else:
        for key, item in node.items():
            yield from _leaves(item, f"{name}/{key}" if name else str(key), depth + 1, is_option)
