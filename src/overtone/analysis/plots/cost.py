"""The cost of a search, and its best value over the cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, value_axis
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.statuses import shown_statuses
from overtone.analysis.plots.steps import Steps, best_so_far
from overtone.analysis.plots.timeline import spans
from overtone.reading.columns.trial_columns import TrialColumns

_BARS = 30
_LOG_RATIO = 100


@dataclass(frozen=True, slots=True)
class Cost:
    """Costs. A trial's time reaches from its start to its end, or to now; pauses count.

    Attributes:
        metric: The objective.
        mode: "min" or "max"; None if the metric is not an objective.
        by_clock: The best value so far of allowed trials over the experiment's clock, seconds; a value
            counts from its end on.
        by_trial_time: The same over the sum of the times of all trials that had ended, seconds.
        by_results: The same over the sum of their results.
        statuses: The words of `core.trial.STATES` that occur, such as "finished" and "stopped".
        n_trials: The number of trials that have started, by status, int64, shape (statuses,).
        seconds: The sum of their times, float64, shape (statuses,).
        n_results: The sum of their results, int64, shape (statuses,).
        duration_edges: Borders of the bars of a histogram of the trials' times, seconds, shape (m + 1,);
            logarithmic if the times differ by a factor of 100 or more.
        duration_counts: The number of trials in each, int64, shape (m,).
        shown: How many trials that have started they stand for.
        y: The axis of the best values.
    """

    metric: str
    mode: str | None
    by_clock: Steps
    by_trial_time: Steps
    by_results: Steps
    statuses: tuple[str, ...]
    n_trials: NDArray[np.int64]
    seconds: NDArray[np.float64]
    n_results: NDArray[np.int64]
    duration_edges: NDArray[np.float64]
    duration_counts: NDArray[np.int64]
    shown: Shown
    y: Axis


def cost(
    columns: TrialColumns,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
    now: float | None = None,
) -> Cost:
    """Return what the trials cost by status, and the best value so far after which cost.

    Args:
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.
        now: The end of trials that have not ended, seconds of the experiment's clock; by default the
            last start or end.

    Raises:
        GoalError: There is no such metric, mode or scope.
    """
    objective = objective_of(columns, metric, mode, scope)
    start, end = spans(columns, now)
    seconds = np.where(np.isfinite(start), end - start, 0.0)
    results = np.asarray(columns.n_results, np.float64)
    by_end = np.argsort(end, kind="stable")  # NaN last
    has_started = np.isfinite(start)

    def so_far(cost_of_trial: NDArray[np.float64]) -> Steps:
        total = np.full(len(columns), np.nan)
        total[by_end] = np.cumsum(cost_of_trial[by_end])
        return best_so_far(objective, columns.allowed, np.where(has_started, total, np.nan))

    statuses, status = shown_statuses(columns)
    n_started = [int((has_started & (status == i)).sum()) for i in range(len(statuses))]
    sums = [float(seconds[status == i].sum()) for i in range(len(statuses))]
    n_results = [int(columns.n_results[status == i].sum()) for i in range(len(statuses))]
    edges = _edges(seconds[has_started])
    counts = np.histogram(seconds[has_started], edges)[0]
    n = int(has_started.sum())
    by_clock = best_so_far(objective, columns.allowed, end)
    return Cost(
        objective.metric,
        objective.mode,
        by_clock,
        so_far(seconds),
        so_far(results),
        statuses,
        np.array(n_started, np.int64),
        np.array(sums),
        np.array(n_results, np.int64),
        edges,
        counts,
        Shown(n, n),
        value_axis(objective.metric, by_clock.y, objective.mode),
    )


def _edges(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(seconds):
        return np.array([0.0, 1.0])
    low, high = float(seconds.min()), float(seconds.max())
    if low == high:
        return np.array([low, high + max(abs(high) * 1e-6, 1e-6)])
    n = min(_BARS, len(seconds))
    if 0 < low <= high / _LOG_RATIO:
        edges = np.geomspace(low, high, n + 1)
        edges[[0, -1]] = low, high  # Rounding may leave out the ends.
        return edges
    return np.linspace(low, high, n + 1)
