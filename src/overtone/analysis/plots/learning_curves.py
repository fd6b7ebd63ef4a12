"""Learning curves of a bounded number of trials, best ones marked, over the spread of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, value_axis
from overtone.analysis.plots.objective import Objective, objective_of
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.thinning import thin
from overtone.reading.columns.trial_columns import TrialColumns

_MOST_POINTS = 20_000
_BEST = 10
_BAND_POINTS = 200
_LEAST_OF_BAND = 4


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """One trial's curve, thinned to the least and the greatest value of each pixel.

    Attributes:
        row: The trial's row in the columns.
        t: `training_iteration`, int64, ascending, shape (n,). After a restart from a checkpoint, the values
            that are reported again replace the earlier ones.
        values: float64, shape (n,), NaN for a gap.
        is_allowed: Whether the trial satisfies the constraints.
        rank: The trial's place among all trials with a value, 0 (best) to 1 (worst); NaN without a value.
    """

    row: int
    t: NDArray[np.int64]
    values: NDArray[np.float64]
    is_allowed: bool
    rank: float


@dataclass(frozen=True, slots=True)
class CurveBand:
    """Quantiles over the curves that are shown; arrays of shape (n,).

    Attributes:
        t: Iterations, int64.
        low, median, high: The 25 %, 50 % and 75 % quantiles of the curves that have a value at t.
        n: The number of curves with a value at t.
    """

    t: NDArray[np.int64]
    low: NDArray[np.float64]
    median: NDArray[np.float64]
    high: NDArray[np.float64]
    n: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LearningCurves:
    """Learning curves.

    Attributes:
        metric: The metric on the y axis.
        mode: "min" or "max"; None if the metric is not an objective.
        y: The axis of the metric.
        curves: Curves of the best trials and of others that are spread over the ranking, best last.
        n_best: The number of curves at the end of `curves` that belong to the best trials.
        band: The spread of the curves; None if there are fewer than four.
        shown: How many trials with results are shown.
    """

    metric: str
    mode: str | None
    y: Axis
    curves: tuple[LearningCurve, ...]
    n_best: int
    band: CurveBand | None
    shown: Shown


def learning_curves(
    columns: TrialColumns, metric: str | None = None, mode: str | None = None, *, max_curves: int = 100
) -> LearningCurves:
    """Return the curves of the best trials and of others, spread over the ranking, with their quantiles.

    Args:
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        max_curves: The most curves that are read from the journal.

    Raises:
        GoalError: There is no such metric or mode.
    """
    objective = objective_of(columns, metric, mode)
    best_first = rows_with_curves(columns, objective)
    n = len(best_first)
    n_spread = n if n <= max_curves else max(max_curves - _BEST, 1)
    spread = np.unique(np.linspace(0, n - 1, n_spread).astype(np.int64)) if n else np.empty(0, np.int64)
    places = np.union1d(spread, np.arange(min(_BEST, n)))
    curves = read_curves(columns, objective, best_first[places])
    band = _band([one for one, is_spread in zip(curves, np.isin(places, spread), strict=True) if is_spread])
    values = np.concatenate([one.values for one in curves]) if curves else np.empty(0)
    y = value_axis(objective.metric, values, objective.mode)
    return LearningCurves(
        objective.metric,
        objective.mode,
        y,
        tuple(curves[::-1]),
        min(_BEST, n),
        band,
        Shown(len(curves), n),
    )


def rows_with_curves(columns: TrialColumns, objective: Objective) -> NDArray[np.int64]:
    """Return the trials that have a curve, best first; those whose last value is not finite come last."""
    if objective.metric not in columns.metrics:
        return np.empty(0, np.int64)
    order = np.argsort(objective.losses, kind="stable")
    return order[np.isfinite(columns.metrics[objective.metric].last[order])]


def read_curves(columns: TrialColumns, objective: Objective, rows: NDArray[np.int64]) -> list[LearningCurve]:
    """Return the curves of these trials, in their order; together at most 20,000 points."""
    n_pixels = max(_MOST_POINTS // (4 * max(len(rows), 1)), 10)
    known = np.sort(objective.losses[np.isfinite(objective.losses)])
    curves = []
    for row in rows.tolist():
        t, values = _as_it_counts(*columns.curve(row, objective.metric))
        kept = thin(t, values, n_pixels)
        loss = objective.losses[row]
        rank = np.searchsorted(known, loss) / max(len(known) - 1, 1) if np.isfinite(loss) else np.nan
        curves.append(LearningCurve(row, t[kept], values[kept], bool(columns.allowed[row]), float(rank)))
    return curves


def _as_it_counts(
    t: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the values that count in the end: a restart at an iteration takes back those from it on."""
    least_after = np.minimum.accumulate(t[::-1])[::-1]
    counts = np.r_[t[:-1] < least_after[1:], np.ones(min(len(t), 1), np.bool_)]
    return t[counts], np.where(np.isfinite(values[counts]), values[counts], np.nan)


def _band(curves: list[LearningCurve]) -> CurveBand | None:
    curves = [one for one in curves if len(one.t)]
    if len(curves) < _LEAST_OF_BAND:
        return None
    times = np.unique(np.concatenate([one.t for one in curves]))
    times = times[np.unique(np.linspace(0, len(times) - 1, min(len(times), _BAND_POINTS)).astype(np.int64))]
    values = np.full((len(curves), len(times)), np.nan)
    for i, one in enumerate(curves):
        inside = (times >= one.t[0]) & (times <= one.t[-1])
        values[i, inside] = one.values[np.searchsorted(one.t, times[inside], side="right") - 1]
    n = np.isfinite(values).sum(axis=0)
    times, values, n = times[n > 0], values[:, n > 0], n[n > 0]
    low, median, high = np.nanquantile(values, [0.25, 0.5, 0.75], axis=0)
    return CurveBand(times, low, median, high, n)
