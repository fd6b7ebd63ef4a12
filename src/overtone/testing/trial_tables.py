"""Columns of trials, made by hand: what plots and tables are computed from, without a journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overtone.analysis.plots.params import params_of
from overtone.core.types import FINISHED
from overtone.reading.columns.trial_columns import Column, Curve, Exploit, MetricColumns, TrialColumns


def category(values: Sequence[Any], levels: Sequence[Any] | None = None) -> Column:
    """Return a column of categories.

    Args:
        values: The value of each trial; None if it is missing.
        levels: All categories; by default those that occur.
    """
    if levels is None:
        levels = list(dict.fromkeys(one for one in values if one is not None))
    codes = [levels.index(one) if one is not None else 0 for one in values]
    return Column(np.array(codes, np.int32), np.array([one is None for one in values], bool), tuple(levels))


def number(values: Sequence[float | None]) -> Column:
    """Return a column of numbers; None is missing."""
    return Column(
        np.array([0.0 if one is None else one for one in values], np.float64),
        np.array([one is None for one in values], bool),
    )


def metric_columns(last: Any) -> MetricColumns:
    """Return the columns of a metric that each trial reported once; values that are not finite are none."""
    last = np.asarray(last, np.float64)
    last = np.where(np.isfinite(last), last, np.nan)
    t = np.isfinite(last).astype(np.int64)
    return MetricColumns(last, last, last, t, t, t)


def table(
    params: Mapping[str, Column],
    metrics: Mapping[str, Any],
    goals: Sequence[tuple[str, str]] = (("loss", "min"),),
    **others: Any,
) -> TrialColumns:
    """Return the columns of an experiment.

    Args:
        params: A column for each hyperparameter.
        metrics: Columns of a metric, or the value of each trial.
        goals: Metric and mode of each objective.
        others: Other attributes of `TrialColumns`. By default each trial has ended, took a second, started a
            second after the one before, and reported each metric once.
    """
    metrics = {
        name: one if isinstance(one, MetricColumns) else metric_columns(one) for name, one in metrics.items()
    }
    columns = [*(one.missing for one in params.values()), *(one.last for one in metrics.values())]
    n = len(columns[0]) if columns else 0

    def curve(row: int, name: str) -> Curve:
        last = metrics[name].last[row]
        return (
            (np.array([1], np.int64), np.array([last]))
            if np.isfinite(last)
            else (np.empty(0, np.int64), np.empty(0))
        )

    def exploits(rows: Sequence[int]) -> list[Exploit]:
        """Let each trial with a source be cloned from it, in the order of the trials."""
        sources = np.asarray(made.source).tolist()
        return [
            Exploit(row, sources[row], 0, 0, params_of(made, sources[row]), params_of(made, row))
            for row in sorted(rows) if 0 <= sources[row] < n and sources[row] != row
        ]  # fmt: skip

    facts: dict[str, Any] = {
        "status": category(["TERMINATED"] * n, ["PENDING", "RUNNING", "TERMINATED", "ERROR"]),
        "end": category([None] * n, [FINISHED, "asha"]),
        "started": np.arange(n, dtype=np.float64),
        "ended": np.arange(n, dtype=np.float64) + 1,
        "node": category(["localhost"] * n, ["localhost"]),
        "rung": np.full(n, np.nan),
        "bracket": np.zeros(n, np.int32),
        "source": np.full(n, -1, np.int32),
        "n_results": np.ones(n, np.int32),
        "allowed": np.ones(n, bool),
        "curve": curve,
        "exploits": exploits,
    }
    made = TrialColumns(
        ids=[f"{i:05d}" for i in range(n)],
        params=params,
        metrics=metrics,
        goals=tuple(goals),
        **{**facts, **others},
    )
    return made
