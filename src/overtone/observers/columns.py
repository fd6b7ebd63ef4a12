"""The parameters and metrics that a table of trials shows, and their headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overtone.core.goal import OWN_FIELDS, lookup
from overtone.errors import ArgumentError
from overtone.space import flatten

Columns = Mapping[str, str] | Sequence[str] | None
"""Columns as users give them: names, or names with the headers to show; None chooses automatically."""

DEFAULT_METRICS = {
    "mean_accuracy": "acc",
    "mean_loss": "loss",
    "training_iteration": "iter",
    "time_total_s": "total time (s)",
    "timesteps_total": "ts",
    "episode_reward_mean": "reward",
}
"""The metrics that are shown where none are named, and their headers."""


def chosen(config: Mapping[str, Any], names: Iterable[str] | None) -> dict[str, Any]:
    """Return the parameters that the search chose: those in `names` that this config has; None for all."""
    if names is None:
        return flatten(config)
    return {name: value for name in names if (value := lookup(config, name)) is not None}


def varying(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths whose value differs between configs, in the order of their first appearance.

    All paths where nothing differs, as with one trial.
    """
    first: dict[str, Any] = {}
    seen: dict[str, int] = {}
    differ: set[str] = set()
    count = 0
    for config in configs:
        count += 1
        for name, value in flatten(config).items():
            if name not in first:
                first[name] = value
            elif name not in differ and not _same(first[name], value):
                differ.add(name)
            seen[name] = seen.get(name, 0) + 1
    differ |= {name for name, times in seen.items() if times < count}
    return [name for name in first if name in differ] or list(first)


def _same(one: Any, other: Any) -> bool:
    """Return whether two config values are alike; an array among them must not raise."""
    return one is other or (type(one) is type(other) and bool(str(one) == str(other)))


def inferred_metrics(
    results: Iterable[Mapping[str, Any]], limit: int, known: Iterable[str] = ()
) -> list[str]:
    """Up to `limit` numeric metrics that users reported, in the order in which they did."""
    skipped = OWN_FIELDS | set(known)
    found: list[str] = []
    for result in results:
        for name, value in result.items():
            if len(found) >= limit:
                return found
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if is_number and name not in skipped and name not in found:
                found.append(name)
    return found


def headed(columns: Columns) -> dict[str, str]:
    """Names and headers of columns as users gave them."""
    if columns is None:
        return {}
    return dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}


def added(columns: Columns, name: str, header: str | None, kind: str) -> dict[str, str]:
    """Return `columns` with one more.

    Raises:
        ValueError: It is there already.
    """
    headers = headed(columns)
    if name in headers:
        raise ArgumentError(f"the {kind} column {name!r} is there already: {list(headers)}")
    return {**headers, name: header or name}
