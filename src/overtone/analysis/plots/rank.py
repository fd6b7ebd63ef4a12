"""Each pair of hyperparameters with the ranks of the trials as colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.pair_axes import pair_axes
from overtone.analysis.plots.points import Points, points_of
from overtone.analysis.plots.shown import Shown, widest_shown
from overtone.reading.columns.trial_columns import TrialColumns


@dataclass(frozen=True, slots=True)
class RankPanel:
    """One pair of hyperparameters.

    Attributes:
        x, y: The axes.
        points: The colour is the rank of the trial's value, 0 (least) to 1 (greatest).
    """

    x: Axis
    y: Axis
    points: Points


@dataclass(frozen=True, slots=True)
class Rank:
    """Ranks.

    Attributes:
        metric: The metric that is ranked.
        mode: "min" or "max"; None if the metric is not an objective.
        params: The hyperparameters shown; fewer than `n_params` if there are too many pairs.
        n_params: The number of hyperparameters that were asked for.
        panels: One for each pair (params[i], params[j]) with i < j, as in `Contour`.
        ticks: The values at the ranks 0, 0.25, 0.5, 0.75 and 1, float64, shape (5,); NaN without trials.
        shown: How many trials are shown.
    """

    metric: str
    mode: str | None
    params: tuple[str, ...]
    n_params: int
    panels: tuple[RankPanel, ...]
    ticks: NDArray[np.float64]
    shown: Shown


def rank(
    columns: TrialColumns,
    params: Sequence[str] | None = None,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
) -> Rank:
    """Return each pair of hyperparameters with the ranks of the trials' values.

    Equal values share the mean of their ranks.

    Args:
        params: Names; by default all, in the order of the space; of more than `MOST_PARAMS` the most
            important ones.
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.

    Raises:
        GoalError: There is no such metric, or no such mode or scope.
        ArgumentError: There is no such hyperparameter.
    """
    objective = objective_of(columns, metric, mode, scope)
    has_value = np.isfinite(objective.values)
    names, n_params, pairs, most = pair_axes(columns, params, objective)
    ranks = np.full(len(columns), np.nan)
    ranks[has_value] = mean_ranks(objective.values[has_value])
    panels = tuple(RankPanel(x[0], y[0], points_of(*x, *y, columns.allowed, ranks, most)) for x, y in pairs)
    known = objective.values[has_value]
    ticks = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]) if known.size else np.full(5, np.nan)
    shown = widest_shown(len(known), (one.points.shown for one in panels))
    return Rank(objective.metric, objective.mode, names, n_params, panels, ticks, shown)


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 0 (least) to 1 (greatest); the mean rank for equal values, 0.5 for a single one."""
    if len(values) < 2:
        return np.full(len(values), 0.5)
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean = last - (counts + 1) / 2
    return np.asarray(mean[number] / (len(values) - 1))
