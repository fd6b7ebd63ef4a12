"""A smooth surface over scattered values: a few representatives and a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis
from overtone.analysis.plots.points import cell_of

MOST_NODES = 500
_GRID = 30
_REACH = 3.0
"""Places farther than this many bandwidths from all representatives have no value."""


def nodes_of(
    x_axis: Axis,
    x: NDArray[np.float64],
    y_axis: Axis,
    y: NDArray[np.float64],
    values: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return at most 500 representatives of the trials: x, y and value, shape (m, 3).

    They are the pairs of coordinates with the best value of each; if these are more than 500, the cells of a
    grid with the mean place and the median value of their trials.

    Args:
        x, y: Coordinates of the trials, best trial first, shape (trials,), NaN if missing.
        values: Their values, shape (trials,).
    """
    used = np.isfinite(x) & np.isfinite(y)
    x, y, values = x[used], y[used], values[used]
    if not len(values):
        return np.empty((0, 3))
    head = slice(2 * MOST_NODES)  # Often enough to see that there are too many pairs.
    for part in (head, slice(None)):
        first = _first_of_pairs(x[part], y[part])
        if len(first) > MOST_NODES:
            break
    else:
        return np.column_stack([x[first], y[first], values[first]])
    u, v = x_axis.unit(x), y_axis.unit(y)
    nx = len(x_axis.labels) if x_axis.labels else 0
    ny = len(y_axis.labels) if y_axis.labels else 0
    side = int(MOST_NODES**0.5)
    nx, ny = nx or (MOST_NODES // ny if ny else side), ny or (MOST_NODES // nx if nx else side)
    cell = (cell_of(v, ny) * nx + cell_of(u, nx)).astype(np.uint16)  # NumPy sorts these in linear time.
    counts = np.bincount(cell)
    taken = np.flatnonzero(counts)
    # Trials are sorted by value: the middle one of each cell has the median.
    by_cell = np.argsort(cell, kind="stable")
    start = (np.cumsum(counts) - counts)[taken]
    mean_x, mean_y = (
        axis.at(np.bincount(cell, weights=one)[taken] / counts[taken])
        for axis, one in ((x_axis, u), (y_axis, v))
    )
    # A cell holds one category: rounding takes away the error of the mean.
    mean_x, mean_y = (
        one if axis.labels is None else np.round(one) for axis, one in ((x_axis, mean_x), (y_axis, mean_y))
    )
    counts = counts[taken]
    low, high = values[by_cell[start + (counts - 1) // 2]], values[by_cell[start + counts // 2]]
    return np.column_stack([mean_x, mean_y, low / 2 + high / 2])[:MOST_NODES]


def _first_of_pairs(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the first place of each pair of values."""
    column, row = (np.unique(one, return_inverse=True)[1] for one in (x, y))
    return np.unique(column * (row.max() + 1) + row, return_index=True)[1]


def smooth(
    x_axis: Axis, y_axis: Axis, nodes: NDArray[np.float64], is_log: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return grid and values of the surface: shapes (nx,), (ny,) and (ny, nx); NaN far from all nodes.

    Args:
        x_axis, y_axis: The axes.
        nodes: Coordinates and values, shape (m, 3).
        is_log: Whether to smooth the logarithms of the values, so that no value drowns the others.
    """
    grid_x, of_x = _weights(x_axis, nodes[:, 0])
    grid_y, of_y = _weights(y_axis, nodes[:, 1])
    total = of_y @ of_x.T
    values = np.log10(nodes[:, 2]) if is_log else nodes[:, 2]
    middle = float(np.median(values))  # Differences from it keep the digits of values that are close.
    sums = (of_y * (values - middle)) @ of_x.T
    is_near = total >= np.exp(-(_REACH**2) / 2)
    z = np.where(is_near, middle + sums / np.where(is_near, total, 1), np.nan)
    if is_log:
        z = np.clip(10**z, nodes[:, 2].min(), nodes[:, 2].max())
    return grid_x, grid_y, z


def _weights(axis: Axis, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an axis's grid, and the weight of each node at each of its places, shape (places, nodes)."""
    if axis.labels is not None:  # Categories have nothing to do with their neighbours.
        grid = np.arange(len(axis.labels), dtype=np.float64)
        return grid, (grid[:, None] == values).astype(np.float64)
    places, units = np.linspace(0, 1, _GRID), axis.unit(values)
    bandwidth = max(float(units.std()) * len(units) ** (-1 / 6), 1 / _GRID)
    return axis.at(places), np.exp(-(((places[:, None] - units) / bandwidth) ** 2) / 2)
