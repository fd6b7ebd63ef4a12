"""A value that changes in steps, such as the best value so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.objective import Objective

_PIXELS = 2_000


@dataclass(frozen=True, slots=True)
class Steps:
    """A step function: `y[i]` holds from `x[i]` until `x[i + 1]`; the last x repeats the last y.

    Attributes:
        x: Where the value changes, ascending, float64, shape (n,); the last one is the end.
        y: The values, float64, shape (n,).
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]


def best_so_far(
    objective: Objective, is_allowed: NDArray[np.bool_], x: NDArray[np.float64] | None = None
) -> Steps:
    """Return the best value so far of the allowed trials; empty without a mode or a value.

    Args:
        x: When each trial's value counts, shape (trials,), NaN for never; by default the trial's row.
    """
    if objective.mode is None or not len(objective.values):
        return Steps(np.empty(0), np.empty(0))
    if x is None:
        at, losses, allowed = np.arange(len(is_allowed), dtype=np.float64), objective.losses, is_allowed
    else:
        order = np.argsort(x, kind="stable")[: int(np.isfinite(x).sum())]
        at, losses, allowed = x[order], objective.losses[order], is_allowed[order]
    sign = -1.0 if objective.mode == "max" else 1.0
    best = np.minimum.accumulate(np.where(allowed & np.isfinite(losses), losses, np.inf))
    return steps_of(at, np.where(np.isfinite(best), sign * best, np.nan))


def steps_of(x: NDArray[np.float64], y: NDArray[np.float64]) -> Steps:
    """Return the changes of a value, at most one for each of 2,000 pixels.

    Args:
        x: Ascending, shape (n,).
        y: The value from x on, shape (n,); NaN only at the beginning, where there is none yet.
    """
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    if not len(x):
        return Steps(x, y)
    # The last value of several with the same x counts.
    changes = np.flatnonzero(np.r_[True, y[1:] != y[:-1]])
    if len(changes) > _PIXELS and x[-1] > x[0]:
        pixel = ((x[changes] - x[0]) / (x[-1] - x[0]) * _PIXELS).astype(np.int64)
        changes = changes[np.r_[True, pixel[2:] != pixel[1:-1], True]]
    kept = np.r_[changes, len(x) - 1]
    return Steps(x[kept], y[kept])
