"""Trials as points of a plane, or as a density if they are too many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis
from overtone.analysis.plots.shown import MOST_MARKS, Shown


@dataclass(frozen=True, slots=True)
class Density:
    """Counts of trials on a grid.

    Attributes:
        x_edges: Borders of the columns, float64, shape (nx + 1,); in units of the axis, a category's
            column reaches from its position - 0.5 to + 0.5.
        y_edges: Borders of the rows, float64, shape (ny + 1,).
        counts: The number of trials of each cell, int64, shape (ny, nx).
        color: The mean of the trials' `Points.color` in each cell, float64, shape (ny, nx); NaN in empty
            cells; None if the points have no colour.
    """

    x_edges: NDArray[np.float64]
    y_edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    color: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """Trials as points.

    Attributes:
        rows: The trials' rows in the columns, int64, shape (n,); empty if `density` stands for them.
        x, y: Coordinates, float64, shape (n,), all finite; positions for categories.
        is_allowed: Whether each trial satisfies the constraints, shape (n,).
        color: A number for each point, shape (n,); None if the plot has no colour.
        density: All points, if they are more than `MOST_MARKS`; else None.
        shown: How many there are.
    """

    rows: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    is_allowed: NDArray[np.bool_]
    color: NDArray[np.float64] | None
    density: Density | None
    shown: Shown


def points_of(
    x_axis: Axis,
    x: NDArray[np.float64],
    y_axis: Axis,
    y: NDArray[np.float64],
    is_allowed: NDArray[np.bool_],
    color: NDArray[np.float64] | None = None,
    most: int = MOST_MARKS,
) -> Points:
    """Return the trials that have both coordinates, as a density if they are more than `most`.

    Args:
        x, y, is_allowed, color: A number for each trial, shape (trials,).
        most: The most points, and the most cells of the density.
    """
    rows = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    x, y = x[rows], y[rows]
    color = None if color is None else color[rows]
    if len(rows) <= most:
        return Points(rows, x, y, is_allowed[rows], color, None, Shown(len(rows), len(rows)))
    none = np.empty(0)
    return Points(
        rows[:0],
        none,
        none,
        is_allowed[:0],
        None if color is None else none,
        density_of(x_axis, x, y_axis, y, color, most),
        Shown(0, len(rows), is_aggregated=True),
    )


def density_of(
    x_axis: Axis,
    x: NDArray[np.float64],
    y_axis: Axis,
    y: NDArray[np.float64],
    color: NDArray[np.float64] | None,
    most: int,
) -> Density:
    """Return the numbers of points in at most `most` cells, as equal on the axes as categories allow."""
    nx, ny = _sides(x_axis, y_axis, most)
    column, row = cell_of(x_axis.unit(x), nx), cell_of(y_axis.unit(y), ny)
    cell = row * nx + column
    counts = np.bincount(cell, minlength=nx * ny).reshape(ny, nx)
    mean = None
    if color is not None:
        total = np.bincount(cell, weights=color, minlength=nx * ny).reshape(ny, nx)
        mean = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    return Density(x_axis.at(np.linspace(0, 1, nx + 1)), y_axis.at(np.linspace(0, 1, ny + 1)), counts, mean)


def cell_of(places: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return which of `n` equal cells between 0 and 1 each place is in."""
    return np.clip((places * n).astype(np.int64), 0, n - 1)


def _sides(x_axis: Axis, y_axis: Axis, most: int) -> tuple[int, int]:
    nx, ny = (0 if one.labels is None else max(len(one.labels), 1) for one in (x_axis, y_axis))
    free = max(int(most**0.5), 2)
    if nx and ny:
        return nx, ny
    return nx or (min(free * 2, max(most // ny, 2)) if ny else free), ny or (
        min(free * 2, max(most // nx, 2)) if nx else free
    )
