"""The values of trials in the order of creation, and the best so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, number_axis, value_axis
from overtone.analysis.plots.objective import Objective, as_experiments, common_objective
from overtone.analysis.plots.points import Points, points_of
from overtone.analysis.plots.shown import Shown, marks_of_panel, total_shown
from overtone.analysis.plots.steps import Steps, best_so_far
from overtone.reading.columns.trial_columns import TrialColumns

_MOST_OF_BAND = 2_000


@dataclass(frozen=True, slots=True)
class ExperimentHistory:
    """The history of one experiment.

    Attributes:
        name: The experiment's name.
        points: x is the trial's row, y its value.
        best: The best value of allowed trials so far over the trial's row; empty without a mode.
    """

    name: str
    points: Points
    best: Steps


@dataclass(frozen=True, slots=True)
class HistoryBand:
    """Mean and standard deviation over several experiments; arrays of shape (n,).

    Attributes:
        x: Rows of trials, int64.
        mean, std: Of the values of the allowed trials in this row; NaN if there are none.
        best_mean, best_std: Of the best values so far.
    """

    x: NDArray[np.int64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    best_mean: NDArray[np.float64]
    best_std: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OptimizationHistory:
    """Optimization histories.

    Attributes:
        metric: The metric on the y axis.
        mode: "min" or "max"; None if the metric is not an objective.
        y: The axis of the metric.
        experiments: One history for each experiment.
        band: Their mean and standard deviation, if `error_bar` asks for it; else None.
        shown: How many trials are shown, of all experiments together.
    """

    metric: str
    mode: str | None
    y: Axis
    experiments: tuple[ExperimentHistory, ...]
    band: HistoryBand | None
    shown: Shown


def optimization_history(
    columns: TrialColumns | Sequence[TrialColumns],
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
    error_bar: bool = False,
) -> OptimizationHistory:
    """Return the values of trials and the best so far, in the order of creation.

    A trial's value is its last one, whatever its status; Optuna's plot counts complete trials alone. As
    there, trials that violate a constraint are shown, and the best value passes over them.

    Args:
        columns: One experiment, or several.
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.
        error_bar: Whether to return mean and standard deviation over the experiments, too.

    Raises:
        GoalError: There is no such metric, or no such mode or scope.
    """
    experiments = as_experiments(columns)
    objectives = common_objective(experiments, metric, mode, scope)
    values = np.concatenate([one.values for one in objectives]) if objectives else np.empty(0)
    name, mode = (objectives[0].metric, objectives[0].mode) if objectives else (metric or "", mode)
    y = value_axis(name, values, mode)
    most = marks_of_panel(len(experiments))
    histories = []
    for one, objective in zip(experiments, objectives, strict=True):
        rows = np.arange(len(one), dtype=np.float64)
        points = points_of(number_axis("trial", rows), rows, y, objective.values, one.allowed, most=most)
        histories.append(ExperimentHistory(one.name, points, best_so_far(objective, one.allowed)))
    band = _band(experiments, objectives) if error_bar and objectives else None
    shown = total_shown(one.points.shown for one in histories)
    return OptimizationHistory(name, mode, y, tuple(histories), band, shown)


def _band(experiments: Sequence[TrialColumns], objectives: Sequence[Objective]) -> HistoryBand:
    """Return mean and deviation by row; as many rows as the longest experiment has, with a value in any."""
    n = max(map(len, experiments))
    values = np.full((len(experiments), n), np.nan)
    best = np.full((len(experiments), n), np.nan)
    for i, (one, objective) in enumerate(zip(experiments, objectives, strict=True)):
        counts = one.allowed & np.isfinite(objective.values)
        values[i, : len(one)] = np.where(counts, objective.values, np.nan)
        losses = np.minimum.accumulate(np.where(counts, objective.losses, np.inf))
        best[i, : len(one)] = np.where(np.isfinite(losses), losses, np.nan)
    if objectives[0].mode is None:
        best[:] = np.nan
    x = np.flatnonzero(np.isfinite(values).any(axis=0))
    x = x[np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_OF_BAND)).astype(int))]
    sign = -1.0 if objectives[0].mode == "max" else 1.0
    mean, std = _moments(values[:, x])
    best_mean, best_std = _moments(best[:, x])
    return HistoryBand(x, mean, std, sign * best_mean, best_std)


def _moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each column's numbers; NaN if it has none."""
    known = np.isfinite(values)
    n = np.where(known.any(axis=0), known.sum(axis=0), np.nan)
    mean = np.where(known, values, 0).sum(axis=0) / n
    return mean, np.sqrt(np.where(known, (values - mean) ** 2, 0).sum(axis=0) / n)
