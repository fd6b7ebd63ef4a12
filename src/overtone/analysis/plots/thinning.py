"""The points of a curve that a screen can show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def thin(x: NDArray[np.int64], y: NDArray[np.float64], n_pixels: int) -> NDArray[np.int64]:
    """Return the places of the points that draw the same curve on `n_pixels` columns of pixels, ascending.

    The least, the greatest, the first and the last value of each column of pixels are kept (M4: Jugel et al.
    2014, "M4: A Visualization-Oriented Time Series Data Aggregation"), and one NaN, which is a gap.

    Args:
        x: Ascending, shape (n,).
        y: Shape (n,).
    """
    n = len(x)
    if n <= 4 * n_pixels:
        return np.arange(n)
    span = float(x[-1] - x[0])
    pixel = np.minimum(((x - x[0]) / span * n_pixels).astype(np.int64), n_pixels - 1) if span else 0 * x
    by_place = _ends(pixel, np.arange(n))
    by_value = np.lexsort((y, pixel))  # NaN last
    number = by_value[~np.isnan(y[by_value])]
    gap = np.flatnonzero(np.isnan(y))
    first_gap = gap[np.r_[True, pixel[gap][1:] != pixel[gap][:-1]]] if len(gap) else gap
    return np.unique(np.concatenate([by_place, _ends(pixel[number], number), first_gap]))


def _ends(pixel: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first and the last place of each pixel; pixels ascend."""
    if not len(places):
        return places
    change = pixel[1:] != pixel[:-1]
    return np.concatenate([places[np.r_[True, change]], places[np.r_[change, True]]])
