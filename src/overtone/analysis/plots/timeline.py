"""The time ranges in which each trial ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.shown import MOST_MARKS, Shown
from overtone.analysis.plots.statuses import shown_statuses
from overtone.errors import ArgumentError
from overtone.reading.columns.trial_columns import TrialColumns

_INTERVALS = 200


@dataclass(frozen=True, slots=True)
class RunningTrials:
    """The number of running trials over time, for experiments with too many bars.

    Attributes:
        edges: Borders of the intervals, seconds, float64, shape (n + 1,).
        n_running: The mean number of trials that ran in each interval, by the status that they have now,
            float64, shape (len(Timeline.statuses), n).
    """

    edges: NDArray[np.float64]
    n_running: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Bars of trials; arrays of shape (n,), in the order of creation.

    Attributes:
        rows: The trials' rows, int64; empty if `running` stands for them.
        start, end: Seconds of the experiment's clock, float64; a trial that has not ended ends now.
        status: Counts into `statuses`, int64.
        statuses: The words of `core.trial.STATES` that occur, such as "finished" and "stopped".
        is_allowed: Whether each trial satisfies the constraints.
        running: The trials over time, if there are more than `MOST_MARKS`; else None.
        shown: How many trials that have started are shown.
    """

    rows: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    status: NDArray[np.int64]
    statuses: tuple[str, ...]
    is_allowed: NDArray[np.bool_]
    running: RunningTrials | None
    shown: Shown


def timeline(
    columns: TrialColumns, *, n_recent_trials: int | None = None, now: float | None = None
) -> Timeline:
    """Return when each trial ran: from its first start to its end, pauses included.

    Trials that have not started have no bar; Optuna's plot gives them one of a second.

    Args:
        n_recent_trials: Show only the last trials; by default all.
        now: The end of trials that have not ended, seconds of the experiment's clock; by default the
            last start or end.

    Raises:
        ArgumentError: `n_recent_trials` is not positive.
    """
    if n_recent_trials is not None and n_recent_trials <= 0:
        raise ArgumentError(f"n_recent_trials={n_recent_trials!r}: must be a positive integer")
    n = len(columns)
    rows = np.flatnonzero(np.isfinite(columns.started))
    rows = rows[rows >= n - (n_recent_trials or n)]
    start, end = spans(columns, now)
    statuses, status = shown_statuses(columns)
    start, end, status, allowed = start[rows], end[rows], status[rows], columns.allowed[rows]
    if len(rows) <= MOST_MARKS:
        shown = Shown(len(rows), len(rows))
        return Timeline(rows, start, end, status, statuses, allowed, None, shown)
    edges = np.linspace(start.min(), max(end.max(), start.min() + 1e-9), _INTERVALS + 1)
    n_running = [_mean_running(start[status == i], end[status == i], edges) for i in range(len(statuses))]
    running = RunningTrials(edges, np.array(n_running))
    shown = Shown(0, len(rows), is_aggregated=True)
    none = np.empty(0)
    return Timeline(rows[:0], none, none, status[:0], statuses, allowed[:0], running, shown)


def spans(columns: TrialColumns, now: float | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return start and end of each trial, seconds; NaN if it has not started, `now` if it has not ended."""
    times = np.concatenate([columns.started, columns.ended])
    times = times[np.isfinite(times)]
    if now is None:
        now = float(times.max()) if len(times) else 0.0
    end = np.where(np.isfinite(columns.ended), columns.ended, now)
    return columns.started, np.where(np.isfinite(columns.started), np.maximum(end, columns.started), np.nan)


def _mean_running(
    start: NDArray[np.float64], end: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(np.diff(_time_since(start, edges) - _time_since(end, edges)) / np.diff(edges))


def _time_since(times: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the times that have passed since all of `times` at each edge."""
    times = np.sort(times - edges[0])
    before = np.searchsorted(times, edges - edges[0])
    sums = np.r_[0.0, np.cumsum(times)]
    return np.asarray(before * (edges - edges[0]) - sums[before])
