"""The results with several objectives that no other result dominates."""

from __future__ import annotations

import math
from collections.abc import Sequence

Scores = Sequence[float]
"""One number for each objective; a higher one is better."""


def pareto_front(points: Sequence[Scores]) -> list[int]:
    """Return the indices of the points that no other point dominates, including all equal points.

    A point with a NaN is on no front.

    >>> pareto_front([(1, 3), (2, 2), (1, 2), (3, 1)])
    [0, 1, 3]
    """
    known = [i for i, point in enumerate(points) if not any(map(math.isnan, point))]
    # a point that dominates another comes first in this order
    front: list[int] = []
    for i in sorted(known, key=lambda i: tuple(points[i]), reverse=True):
        if not any(dominates(points[j], points[i]) for j in front):
            front.append(i)
    return sorted(front)


def dominates(one: Scores, other: Scores) -> bool:
    """Return whether `one` is nowhere worse and somewhere better."""
    return all(a >= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)
