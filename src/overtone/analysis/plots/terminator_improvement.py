"""The improvement that can be expected of a search that continues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.shown import Shown
from overtone.errors import ArgumentError, GoalError
from overtone.reading.columns.trial_columns import TrialColumns

EVALUATORS = ("doubling", "stagnation")
_MOST_POINTS = 300
_TOP = 60


@dataclass(frozen=True, slots=True)
class TerminatorImprovement:
    """Improvements that were to be expected; arrays of shape (n,).

    Attributes:
        metric: The objective.
        mode: "min" or "max".
        x: Rows of trials, int64, ascending.
        improvement: The improvement to be expected when these trials had a value, >= 0 in units of the
            metric; in trials for the evaluator "stagnation", where 0 and less means no further trials.
        error: The improvement that is not worth a trial; None if it was not given.
        min_n_trials: Improvements of fewer trials are uncertain and shown lighter.
        shown: How many of the trials have a mark.
    """

    metric: str
    mode: str
    x: NDArray[np.int64]
    improvement: NDArray[np.float64]
    error: float | None
    min_n_trials: int
    shown: Shown


def terminator_improvement(
    columns: TrialColumns,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
    evaluator: str = "doubling",
    error: float | None = None,
    max_stagnation_trials: int = 30,
    min_n_trials: int = 20,
) -> TerminatorImprovement:
    """Return how much better a search could be expected to become, after each trial.

    Optuna's plot bounds the regret with a Gaussian process for each trial. Here, "doubling" asks what the
    second half of the trials so far has gained: the expected best value of a random half of them minus the
    best of all. As much, or less, can be expected of as many trials again. The expectation over all halves is
    exact (the order statistics of Dodge et al. 2019, "Show Your Work: Improved Reporting of Experimental
    Results", without replacement) and does not depend on the order of the trials: it is not a bound for
    a searcher that has just begun to learn. "stagnation" is Optuna's `BestValueStagnationEvaluator`: the
    trials that are left until the best value has not changed for `max_stagnation_trials`.

    Trials without a value, and those that violate a constraint, change nothing.

    Args:
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.
        evaluator: "doubling" or "stagnation".
        error: An improvement that is not worth a trial, such as the noise of the metric.
        max_stagnation_trials: For "stagnation".
        min_n_trials: Improvements of fewer trials are shown lighter.

    Raises:
        GoalError: There is no such metric, mode or scope, or no mode.
        ArgumentError: There is no such evaluator.
    """
    objective = objective_of(columns, metric, mode, scope)
    if evaluator not in EVALUATORS:
        raise ArgumentError(f"evaluator={evaluator!r}: must be one of {', '.join(map(repr, EVALUATORS))}")
    if objective.mode is None and len(columns):
        raise GoalError(f'mode=None: give "min" or "max", as {objective.metric!r} is not an objective')
    rows = np.flatnonzero(np.isfinite(objective.values) & columns.allowed)
    losses = objective.losses[rows]
    n = len(rows)
    # One trial has no half.
    first = 1 if evaluator == "stagnation" else 2
    counts = np.unique(np.r_[np.arange(first, min(n, _MOST_POINTS // 2) + 1), _logarithmic(n)])
    counts = counts[counts >= first]
    if evaluator == "doubling":
        improvement = np.array([_gain_of_half(losses[:count]) for count in counts.tolist()])
    else:
        improvement = max_stagnation_trials - _stagnation(losses)[counts - 1].astype(np.float64)
    x, shown = rows[counts - 1], Shown(len(counts), n)
    return TerminatorImprovement(
        objective.metric, objective.mode or "min", x, improvement, error, min_n_trials, shown
    )


def _logarithmic(n: int) -> NDArray[np.int64]:
    if not n:
        return np.empty(0, np.int64)
    return np.round(np.geomspace(1, n, _MOST_POINTS // 2)).astype(np.int64)


def _gain_of_half(losses: NDArray[np.float64]) -> float:
    """Return the expected least loss of a random half (rounded down, at least one) minus the least of all."""
    n = len(losses)
    half = max(n // 2, 1)
    top = min(_TOP, n)
    best = np.sort(np.partition(losses, top - 1)[:top])
    # The chance that none of the i best is in the half, and the i-th step to the next best is lost.
    i = np.arange(1, top)
    absent = np.cumprod(np.maximum(n - half - i + 1, 0) / (n - i + 1))
    return float(absent @ np.diff(best))


def _stagnation(losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of trials since the best one, after each trial."""
    best = np.minimum.accumulate(losses)
    place = np.arange(len(losses))
    return place - np.maximum.accumulate(np.where(np.r_[True, best[1:] < best[:-1]][: len(losses)], place, 0))
