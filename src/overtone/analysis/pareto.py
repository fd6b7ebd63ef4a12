"""The results with several objectives that no other result dominates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overtone.analysis.staircase import Staircase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scores = Sequence[float]
"""One number for each objective; a higher one is better."""


def pareto_front(points: Sequence[Scores] | NDArray[np.float64]) -> list[int]:
    """Return the indices of the points that no other point dominates, including all equal points.

    A point with a NaN is on no front. With two or three objectives the time grows as n log n (Kung, Luccio
    and Preparata 1975, "On Finding the Maxima of a Set of Vectors"), else as n times the size of the front.

    >>> pareto_front([(1, 3), (2, 2), (1, 2), (3, 1)])
    [0, 1, 3]
    """
    import numpy as np

    if not len(points):
        return []
    scores = np.asarray(points, np.float64)
    front: list[int] = np.flatnonzero(is_on_front(scores)).tolist()
    return front


def is_on_front(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether no other point dominates each point.

    Args:
        scores: Shape (points, objectives).
    """
    import numpy as np

    result = np.zeros(len(scores), np.bool_)
    known = np.flatnonzero(~np.isnan(scores).any(axis=1))
    if not len(known):
        return result
    # Equal points are one; a point that dominates another comes before it.
    distinct, number = np.unique(scores[known], axis=0, return_inverse=True)
    distinct = distinct[::-1]
    if distinct.shape[1] <= 2:
        last = distinct[:, -1]
        kept = np.r_[True, last[1:] > np.maximum.accumulate(last)[:-1]]
    elif distinct.shape[1] == 3:
        kept = _front_of_three(distinct)
    else:
        kept = _front_of_many(distinct)
    result[known] = kept[::-1][number.reshape(-1)]
    return result


def domination_ranks(scores: NDArray[np.float64], least: int | None = None) -> NDArray[np.int64]:
    """Return the front of each point: 0 for the front, 1 for the front of the others, and so on.

    Args:
        scores: Shape (points, objectives); higher numbers are better, no NaN.
        least: Stop when so many points have a rank; the others have -1. By default all have one.
    """
    import numpy as np

    ranks = np.full(len(scores), -1, np.int64)
    left = np.arange(len(scores))
    rank = 0
    while len(left) and len(scores) - len(left) < (len(scores) if least is None else least):
        on_front = is_on_front(scores[left])
        ranks[left[on_front]] = rank
        left = left[~on_front]
        rank += 1
    return ranks


def dominates(one: Scores, other: Scores) -> bool:
    """Return whether `one` is nowhere worse and somewhere better."""
    return all(a >= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


def _front_of_three(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each point is on the front; points descend by the first objective, none is equal."""
    import numpy as np

    before = Staircase()  # in the other two objectives
    kept = []
    for y, z in points[:, 1:].tolist():
        kept.append(not before.covers(y, z))
        if kept[-1]:
            before.add(y, z)
    return np.array(kept)


def _front_of_many(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each point is on the front; a point that dominates another comes before it."""
    import numpy as np

    kept = np.zeros(len(points), np.bool_)
    left = np.arange(len(points))
    while len(left):
        first, left = left[0], left[1:]
        kept[first] = True
        left = left[(points[left] > points[first]).any(axis=1)]
    return kept
