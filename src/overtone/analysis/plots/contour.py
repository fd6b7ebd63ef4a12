"""The value over each pair of hyperparameters, smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, value_axis
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.pair_axes import pair_axes
from overtone.analysis.plots.points import Points, points_of
from overtone.analysis.plots.shown import Shown, widest_shown
from overtone.analysis.plots.smoother import nodes_of, smooth
from overtone.reading.columns.trial_columns import TrialColumns


@dataclass(frozen=True, slots=True)
class ContourPanel:
    """One pair of hyperparameters.

    Attributes:
        x, y: The axes.
        grid_x: Coordinates of the columns of `z`, float64, shape (nx,); positions for categories.
        grid_y: Coordinates of the rows of `z`, float64, shape (ny,).
        z: The smoothed value, float64, shape (ny, nx); NaN far from all trials. Shape (0, 0) if one of the
            hyperparameters has fewer than two values.
        nodes: (x, y, value) of each representative that `z` is computed from, float64, shape (m, 3), m at
            most 500.
        points: All trials.
    """

    x: Axis
    y: Axis
    grid_x: NDArray[np.float64]
    grid_y: NDArray[np.float64]
    z: NDArray[np.float64]
    nodes: NDArray[np.float64]
    points: Points


@dataclass(frozen=True, slots=True)
class Contour:
    """Contours.

    Attributes:
        metric: The metric.
        mode: "min" or "max"; None if the metric is not an objective.
        params: The hyperparameters shown, in the order of the space; fewer than `n_params` if there are too
            many pairs.
        n_params: The number of hyperparameters that were asked for.
        panels: One for each pair (params[i], params[j]) with i < j: (0, 1), (0, 2), ..., (1, 2), ...; x is
            params[i]. A matrix of panels shows each also transposed.
        z_range: The least and the greatest `z` of all panels, for one colour scale; NaN if there are none.
        shown: How many trials are shown.
        value: The scale of `z`, as an axis; if it is logarithmic, `z` is smoothed in logarithms.
    """

    metric: str
    mode: str | None
    params: tuple[str, ...]
    n_params: int
    panels: tuple[ContourPanel, ...]
    z_range: tuple[float, float]
    shown: Shown
    value: Axis


def contour(
    columns: TrialColumns,
    params: Sequence[str] | None = None,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
) -> Contour:
    """Return the value over each pair of hyperparameters, smoothed over at most 500 representatives.

    Optuna's plot interpolates between all trials. Here each cell of a coarse grid is represented by the
    middle of its trials and their median value, and a kernel smoother (Nadaraya 1964, "On Estimating
    Regression"; bandwidth of Scott 1992) fills the plane. Up to 500 different pairs of values are their own
    representatives, with the best value of each, as in Optuna's plot.

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
    best_first = np.argsort(objective.losses, kind="stable")[: int(has_value.sum())]
    value = value_axis(objective.metric, objective.values, objective.mode)
    panels = tuple(
        _panel(x, y, objective.values, best_first, columns.allowed, most, value.is_log) for x, y in pairs
    )
    known = [one.z[np.isfinite(one.z)] for one in panels]
    z = np.concatenate([*known, np.empty(0)])
    z_range = (float(z.min()), float(z.max())) if z.size else (float("nan"), float("nan"))
    shown = widest_shown(int(has_value.sum()), (one.points.shown for one in panels))
    return Contour(objective.metric, objective.mode, names, n_params, panels, z_range, shown, value)


def _panel(
    x: tuple[Axis, NDArray[np.float64]],
    y: tuple[Axis, NDArray[np.float64]],
    values: NDArray[np.float64],
    best_first: NDArray[np.int64],
    is_allowed: NDArray[np.bool_],
    most: int,
    is_log: bool,
) -> ContourPanel:
    points = points_of(*x, *y, is_allowed, most=most)
    none = np.empty(0)
    nodes = nodes_of(x[0], x[1][best_first], y[0], y[1][best_first], values[best_first])
    if len(np.unique(nodes[:, 0])) < 2 or len(np.unique(nodes[:, 1])) < 2:
        return ContourPanel(x[0], y[0], none, none, np.empty((0, 0)), nodes, points)
    return ContourPanel(x[0], y[0], *smooth(x[0], y[0], nodes, is_log), nodes, points)
