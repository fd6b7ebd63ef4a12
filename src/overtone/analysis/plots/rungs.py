"""The trials that reached each rung of a scheduler, and the values of those that ended there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, value_axis
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.statuses import has_ended
from overtone.reading.columns.trial_columns import TrialColumns

MOST_BRACKETS = 8
"""The trials of more brackets are counted together."""


@dataclass(frozen=True, slots=True)
class RungCounts:
    """Numbers of trials at each rung; arrays of shape (n,), lowest rung first.

    Attributes:
        bracket: The number of their bracket, from 1; 0 for all trials.
        levels: The rungs, in units of the scheduler's time, float64.
        n_reached: The number of trials that came to this rung or a higher one, int64. If rungs are not
            iterations, only trials that were stopped, paused or changed there are known.
        n_ended: The number that ended at this rung, int64; if rungs are not iterations, the number that ended
            with this as their highest rung.
        n_active: The number with this as their highest rung that have not ended, int64.
    """

    bracket: int
    levels: NDArray[np.float64]
    n_reached: NDArray[np.int64]
    n_ended: NDArray[np.int64]
    n_active: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rungs:
    """The rungs of a scheduler.

    Attributes:
        metric: The metric.
        mode: "min" or "max"; None if the metric is not an objective.
        all: The counts of all trials.
        brackets: The counts of each bracket, if there are 2 to `MOST_BRACKETS`.
        n_brackets: The number of brackets that rulings name.
        n_unknown: The number of trials with results of which no ruling names the bracket, if one names any.
        quantiles: 0, 25, 50, 75 and 100 % of the last values of the trials with this highest rung, float64,
            shape (n, 5); NaN if none has a value.
        n_below: The number of trials with results that came to no rung.
        shown: How many trials they stand for.
        y: The axis of the values.
    """

    metric: str
    mode: str | None
    all: RungCounts
    brackets: tuple[RungCounts, ...]
    n_brackets: int
    n_unknown: int
    quantiles: NDArray[np.float64]
    n_below: int
    shown: Shown
    y: Axis


def rungs(columns: TrialColumns, metric: str | None = None, mode: str | None = None) -> Rungs:
    """Return how many trials reached each rung, and the spread of their last values by highest rung.

    Args:
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.

    Raises:
        GoalError: There is no such metric or mode.
    """
    objective = objective_of(columns, metric, mode)
    has_results = columns.n_results > 0
    numbers = np.unique(columns.bracket[columns.bracket > 0])
    is_split = 1 < len(numbers) <= MOST_BRACKETS
    bracket = columns.bracket if is_split else np.zeros(len(columns), np.int32)
    rung, has_passed = _highest_rung(columns, objective.metric, bracket)
    ended = has_ended(columns)
    every = _counts(0, rung, ended, has_passed)
    brackets = tuple(
        _counts(one, rung[own], ended[own], has_passed[own])
        for one, own in ((int(one), bracket == one) for one in numbers)
        if is_split
    )
    is_ruled = np.isfinite(rung)
    values = objective.values[is_ruled]
    quantiles = [five_quantiles(objective.values[rung == level]) for level in every.levels]
    n_below = int((~is_ruled & has_results).sum())
    n_unknown = int(((bracket == 0) & has_results).sum()) if is_split else 0
    shown = Shown(len(values), len(values))
    y = value_axis(objective.metric, values, objective.mode)
    return Rungs(
        objective.metric, objective.mode, every, brackets, len(numbers), n_unknown,
        np.array(quantiles).reshape(-1, 5), n_below, shown, y,
    )  # fmt: skip


def _counts(
    bracket: int, rung: NDArray[np.float64], has_ended: NDArray[np.bool_], has_passed: NDArray[np.bool_]
) -> RungCounts:
    """Return the counts of trials, each with its highest rung, and whether it ended and went further."""
    is_ruled = np.isfinite(rung)
    levels, number = np.unique(rung[is_ruled], return_inverse=True)
    n, ended = len(levels), has_ended[is_ruled]
    n_ended = np.bincount(number[ended & ~has_passed[is_ruled]], minlength=n)
    n_active = np.bincount(number[~ended], minlength=n)
    n_reached = np.cumsum(np.bincount(number, minlength=n)[::-1])[::-1]
    return RungCounts(bracket, levels, n_reached, n_ended, n_active)


def _highest_rung(
    columns: TrialColumns, metric: str, bracket: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the highest rung that each trial came to, NaN if none, and whether it went further.

    Both have shape (trials,), as `bracket` has: trials come to the rungs of their bracket; in bracket 0, to
    all rungs.

    A scheduler records nothing if it lets a trial go on: the iterations tell, if rungs are iterations.
    """
    ruled = np.asarray(columns.rung, np.float64)
    levels = np.unique(ruled[np.isfinite(ruled)])
    unknown = np.zeros(len(ruled), np.bool_)
    if metric not in columns.metrics or not len(levels):
        return ruled, unknown
    t = np.asarray(columns.metrics[metric].last_t, np.float64)
    # Trials that a scheduler stops at a rung end there.
    if (t < ruled).any() or not np.isin(levels, ruled[t == ruled]).all():
        return ruled, unknown
    reached = np.full(len(ruled), np.nan)
    for one in np.unique(bracket):
        of_it = bracket == one
        own = np.unique(ruled[of_it & np.isfinite(ruled)]) if one else levels
        below = np.searchsorted(own, t[of_it], side="right")
        reached[of_it] = np.concatenate([[np.nan], own])[below]
    highest = np.fmax(ruled, reached)
    return highest, t > highest


def five_quantiles(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0, 25, 50, 75 and 100 % of the numbers; NaN if there are none."""
    known = values[np.isfinite(values)]
    return np.quantile(known, [0, 0.25, 0.5, 0.75, 1]) if len(known) else np.full(5, np.nan)
