"""The columns of trials under the keys by which the page knows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.trial import Status
from overtone.reading.columns.trial_columns import Column, TrialColumns

MOST_PARAMS, MOST_METRICS = 64, 32
"""Further columns are left out of messages: 100,000 trials would not fit into a page."""


SHOWN_STATUSES = tuple(dict.fromkeys(status.shown for status in Status))
"""The statuses that users see: the levels of "fact:status"."""

_SHOWN_CODES = np.array([SHOWN_STATUSES.index(status.shown) for status in Status], np.int8)


@dataclass(frozen=True, slots=True)
class KeyedColumn:
    """One column of the page's table.

    Attributes:
        key: Such as "param:lr", "metric:loss", "metric:loss:min" or "fact:status".
        values: One value for each of the rows that were asked for; NaN, or -1 for codes, if missing.
        levels: The values that codes stand for; None for numbers.
        is_log: Whether it is a hyperparameter that is searched on a logarithmic scale.
        is_integer: Whether all numbers are integers.
    """

    key: str
    values: NDArray[Any]
    levels: tuple[Any, ...] | None = None
    is_log: bool = False
    is_integer: bool = False


Rows = NDArray[np.int64] | slice
ALL = slice(None)


def keyed_columns(columns: TrialColumns, rows: Rows = ALL) -> Iterator[KeyedColumn]:
    """Yield the columns of an experiment, with their values in these rows."""
    for name in kept_params(columns):
        column = columns.params[name]
        values = _filled(column, rows)
        is_log = name in columns.log_params
        yield KeyedColumn(f"param:{name}", values, column.levels, is_log, column.is_integer)
    goals = [metric for metric, _ in columns.goals if metric in columns.metrics]
    for name in list(dict.fromkeys([*goals, *columns.metrics]))[:MOST_METRICS]:
        metric = columns.metrics[name]
        last = metric.last[rows]
        if metric.is_finite is not None:
            last = np.where(metric.is_finite[rows], last, np.nan)
        yield KeyedColumn(f"metric:{name}", last)
        if name in goals:
            yield KeyedColumn(f"metric:{name}:min", metric.min[rows])
            yield KeyedColumn(f"metric:{name}:max", metric.max[rows])
    yield KeyedColumn("fact:status", _SHOWN_CODES[columns.status.values[rows]], SHOWN_STATUSES)
    for name in ("end", "node"):
        fact: Column = getattr(columns, name)
        yield KeyedColumn(f"fact:{name}", _filled(fact, rows), fact.levels)
    for name in ("started", "ended", "rung"):
        yield KeyedColumn(f"fact:{name}", getattr(columns, name)[rows])
    if columns.bracket.any():  # 0 where none is known
        bracket = columns.bracket[rows]
        yield KeyedColumn("fact:bracket", np.where(bracket > 0, bracket, np.nan), is_integer=True)
    yield KeyedColumn("fact:source", columns.source[rows].astype(np.int32), is_integer=True)
    yield KeyedColumn("fact:n_results", columns.n_results[rows].astype(np.int32), is_integer=True)
    yield KeyedColumn("fact:allowed", columns.allowed[rows].astype(np.uint8), is_integer=True)


def kept_params(columns: TrialColumns) -> list[str]:
    """Return the hyperparameters that have a column here."""
    return list(columns.params)[:MOST_PARAMS]


def n_left_out(columns: TrialColumns) -> int:
    """Return how many hyperparameters and metrics have no column here."""
    return max(0, len(columns.params) - MOST_PARAMS) + max(0, len(columns.metrics) - MOST_METRICS)


def _filled(column: Column, rows: Rows) -> NDArray[Any]:
    """Return the values of a column, with what stands for a missing value."""
    return np.where(column.missing[rows], np.nan if column.levels is None else -1, column.values[rows])
