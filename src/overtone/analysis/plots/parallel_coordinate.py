"""Each trial as a line over the axes of the objectives and the hyperparameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.pareto import domination_ranks, is_on_front
from overtone.analysis.plots.axis import Axis, param_axis, value_axis
from overtone.analysis.plots.objective import (
    Objective,
    complete_rows,
    loss_matrix,
    objective_of,
    objectives_of,
)
from overtone.analysis.plots.params import chosen_params
from overtone.analysis.plots.points import Density, cell_of
from overtone.analysis.plots.shown import MOST_MARKS, Shown
from overtone.reading.columns.trial_columns import TrialColumns

_MISSING = -0.1
_MISSING_LABEL = "none"
_BEST_LINES = 50
_BUNDLE_CELLS = 24


@dataclass(frozen=True, slots=True)
class Dimension:
    """One axis.

    Attributes:
        axis: Name and scale.
        values: Data units, positions for categories; NaN if the trial has no such value; shape (lines,).
        places: Heights on the axis, 0.0 (least) to 1.0 (greatest); -0.1 for a missing value; shape (lines,).
        ticks: Heights of the ticks.
        tick_labels: Their texts. A missing value has the tick -0.1, "none".
    """

    axis: Axis
    values: NDArray[np.float64]
    places: NDArray[np.float64]
    ticks: tuple[float, ...]
    tick_labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParallelCoordinate:
    """Parallel coordinates.

    Attributes:
        metric: The metric that colours the lines; "Pareto rank" with several objectives.
        mode: "min" or "max".
        dimensions: The objectives, then the hyperparameters.
        n_objectives: The number of dimensions that are objectives.
        rows: The trials' rows, int64, shape (lines,); the best one last.
        color: The value, or the Pareto rank (0 is the front), float64, shape (lines,).
        color_range: The least and the greatest colour of all trials; NaN without trials.
        is_allowed: Whether each trial satisfies the constraints, shape (lines,).
        bundles: If there are too many trials: for each two neighbouring dimensions the number of trials
            between two heights, x on the left and y on the right axis; else empty.
        shown: How many trials are shown as lines of their own.
    """

    metric: str
    mode: str | None
    dimensions: tuple[Dimension, ...]
    n_objectives: int
    rows: NDArray[np.int64]
    color: NDArray[np.float64]
    color_range: tuple[float, float]
    is_allowed: NDArray[np.bool_]
    bundles: tuple[Density, ...]
    shown: Shown


def parallel_coordinate(
    columns: TrialColumns,
    params: Sequence[str] | None = None,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
) -> ParallelCoordinate:
    """Return each trial as a line over the objectives and the hyperparameters.

    If the marks (lines times axes) are more than `MOST_MARKS`, the best 50 trials are lines, and bundles
    stand for all. With several objectives, colours are Pareto ranks, as in Optuna's plot; beyond
    `MOST_MARKS` marks only the front is known, with more than three objectives that of a sample.

    Args:
        params: Names; by default all, in the order of the space.
        metric: A name; by default every objective.
        mode: "min" or "max"; by default the objective's. Without a metric, it is that of the first one.
        scope: "last" for each trial's last value, "all" for its best.

    Raises:
        GoalError: There is no such metric, or no such mode or scope.
        ArgumentError: There is no such hyperparameter.
    """
    objectives: tuple[Objective, ...]
    if metric is None and mode is None and len(columns.goals) > 1:
        objectives = objectives_of(columns, None, scope)
    else:
        objectives = (objective_of(columns, metric, mode, scope),)
    losses = loss_matrix(objectives)
    used = complete_rows(losses)
    names = chosen_params(columns, params)
    axes = [(value_axis(one.metric, one.values[used], one.mode), one.values) for one in objectives]
    axes += [param_axis(name, columns.params[name], used, name in columns.log_params) for name in names]
    rows = np.flatnonzero(used)
    is_aggregated = len(rows) * len(axes) > MOST_MARKS
    color, order = _colors(objectives, losses[rows], _BEST_LINES if is_aggregated else len(rows))
    lines = rows[order]
    dimensions = [_dimension(axis, values[rows]) for axis, values in axes]
    bundles: tuple[Density, ...] = ()
    if is_aggregated:
        bundles = tuple(_bundle(a.places, b.places) for a, b in pairwise(dimensions))
    known = color[np.isfinite(color)]
    return ParallelCoordinate(
        objectives[0].metric if len(objectives) == 1 else "Pareto rank",
        objectives[0].mode if len(objectives) == 1 else "min",
        tuple(replace(one, values=one.values[order], places=one.places[order]) for one in dimensions),
        len(objectives),
        lines,
        color[order],
        (float(known.min()), float(known.max())) if len(known) else (float("nan"), float("nan")),
        columns.allowed[lines],
        bundles,
        Shown(len(lines), len(rows), is_aggregated),
    )


def _colors(
    objectives: Sequence[Objective], losses: NDArray[np.float64], n_lines: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the colours of all trials, and which ones are the `n_lines` best, the best one last."""
    if len(objectives) == 1:
        values = losses[:, 0] if objectives[0].mode != "max" else -losses[:, 0]
        return values, np.argsort(losses[:, 0], kind="stable")[:n_lines][::-1]
    if n_lines < len(losses):
        # Ranks of all trials take long, and so does a front of many objectives.
        step = 1 if len(objectives) <= 3 else -(-len(losses) // MOST_MARKS)
        front = np.flatnonzero(is_on_front(-losses[::step]))[:n_lines] * step
        color = np.full(len(losses), np.nan)
        color[front] = 0.0
        return color, front[::-1]
    color = domination_ranks(-losses).astype(np.float64)
    return color, np.argsort(color, kind="stable")[::-1]


def _dimension(axis: Axis, values: NDArray[np.float64]) -> Dimension:
    known = values[np.isfinite(values)]
    is_missing = len(known) < len(values)
    if axis.labels is not None:
        heights = (
            np.linspace(0, 1, len(axis.labels)) if len(axis.labels) > 1 else np.full(len(axis.labels), 0.5)
        )
        places = np.interp(values, np.arange(len(heights)), heights) if len(heights) else values
        ticks, labels = heights, list(axis.labels)
    else:
        low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
        whole = Axis(axis.name, float(low), float(high), axis.is_log)
        places = whole.unit(values) if high > low else np.where(np.isfinite(values), 0.5, np.nan)
        ticks = np.linspace(0, 1, 5) if high > low else np.array([0.5])
        labels = _labels(whole.at(ticks).tolist() if high > low else [float(low)])
    if is_missing:
        places = np.where(np.isfinite(values), places, _MISSING)
        ticks, labels = np.r_[_MISSING, ticks], [_MISSING_LABEL, *labels]
    return Dimension(axis, values, places, tuple(ticks.tolist()), tuple(labels))


def _labels(values: Sequence[float]) -> list[str]:
    """Return numbers with as many digits as tell them apart, 3 to 17."""
    for digits in range(3, 17):
        labels = [f"{one:.{digits}g}" for one in values]
        if len(set(labels)) == len(set(values)):
            return labels
    return [f"{one:.17g}" for one in values]


def _bundle(left: NDArray[np.float64], right: NDArray[np.float64]) -> Density:
    n = _BUNDLE_CELLS
    edges = np.linspace(_MISSING, 1.0, n + 1)
    x, y = (cell_of((one - _MISSING) / (1 - _MISSING), n) for one in (left, right))
    return Density(edges, edges, np.bincount(y * n + x, minlength=n * n).reshape(n, n))
