"""Trials in the space of two or three objectives, and the ones that no other dominates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.pareto import is_on_front
from overtone.analysis.plots.axis import Axis, value_axis
from overtone.analysis.plots.objective import complete_rows, loss_matrix, objectives_of
from overtone.analysis.plots.points import cell_of
from overtone.analysis.plots.shown import MOST_MARKS, Shown
from overtone.errors import GoalError
from overtone.reading.columns.trial_columns import TrialColumns


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """A Pareto front.

    Attributes:
        axes: One for each of the two or three objectives.
        modes: "min" or "max" of each.
        front: Values of the allowed trials that no allowed trial dominates, ordered by the first objective,
            float64, shape (k, objectives).
        front_rows: Their rows in the columns, int64, shape (k,).
        others: Values of the other trials, float64, shape (m, objectives).
        other_rows: Their rows, int64, shape (m,).
        counts: How many trials each of the others stands for, int64, shape (m,); more than 1 if trials that
            lie close together are shown as one mark, in their middle.
        is_allowed: Whether each of the others satisfies the constraints, shape (m,).
        shown: How many trials have a mark.
    """

    axes: tuple[Axis, ...]
    modes: tuple[str, ...]
    front: NDArray[np.float64]
    front_rows: NDArray[np.int64]
    others: NDArray[np.float64]
    other_rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    is_allowed: NDArray[np.bool_]
    shown: Shown


def pareto_front(
    columns: TrialColumns, goals: Sequence[tuple[str, str]] | None = None, *, scope: str = "last"
) -> ParetoFront:
    """Return the trials in the space of two or three objectives, and their front.

    As in Optuna's plot, trials that violate a constraint are on no front and dominate no other trial. If the
    others are too many, trials of one cell of a grid share a mark.

    Args:
        goals: Two or three pairs of metric and mode; by default the objectives.
        scope: "last" for each trial's last values, "all" for its best one of each metric.

    Raises:
        GoalError: There are not two or three objectives; there is no such metric, mode or scope.
    """
    goals = columns.goals if goals is None else goals
    if len(goals) not in (2, 3):
        raise GoalError(
            f"goals={tuple(goals)!r}: must be two or three objectives, such as"
            ' [("loss", "min"), ("latency", "min")]'
        )
    objectives = objectives_of(columns, goals, scope)
    values = np.column_stack([one.values for one in objectives])
    known = complete_rows(values)
    candidates = np.flatnonzero(known & columns.allowed)
    is_front = np.zeros(len(values), np.bool_)
    is_front[candidates] = is_on_front(-loss_matrix(objectives)[candidates])
    front = np.flatnonzero(is_front)
    front = front[np.argsort(values[front, 0], kind="stable")]
    n_front, n_all = len(front), int(known.sum())
    if n_front > MOST_MARKS:
        front = front[np.linspace(0, n_front - 1, MOST_MARKS).astype(np.int64)]
    axes = tuple(value_axis(one.metric, values[known, i], one.mode) for i, one in enumerate(objectives))
    rows = np.flatnonzero(known & ~is_front)
    others, rows, counts = _marks(axes, values, rows, columns.allowed)
    shown = Shown(len(front) + int((counts == 1).sum()), n_all, is_aggregated=bool((counts > 1).any()))
    modes = tuple(one.mode or "min" for one in objectives)
    return ParetoFront(axes, modes, values[front], front, others, rows, counts, columns.allowed[rows], shown)


def _marks(
    axes: tuple[Axis, ...],
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    is_allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return place, first row and number of trials of each mark, at most `MOST_MARKS`."""
    if len(rows) <= MOST_MARKS:
        return values[rows], rows, np.ones(len(rows), np.int64)
    # Allowed trials and others share no mark.
    n = int((MOST_MARKS / 2) ** (1 / len(axes)))
    cell = is_allowed[rows].astype(np.int64)
    for i, axis in enumerate(axes):
        cell = cell * n + cell_of(axis.unit(values[rows, i]), n)
    _, first, number, counts = np.unique(cell, return_index=True, return_inverse=True, return_counts=True)
    # Means of places, since sums of large values may be infinite.
    middle = [np.bincount(number, weights=one.unit(values[rows, i])) / counts for i, one in enumerate(axes)]
    places = np.column_stack([one.at(place) for one, place in zip(axes, middle, strict=True)])
    places[counts == 1] = values[rows[first[counts == 1]]]
    return places, rows[first], counts
