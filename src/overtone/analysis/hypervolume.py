"""The hypervolume of a set of results in the space of objectives (Zitzler and Thiele 1998), computed by the
exclusive volumes of its points, one after the other (While, Bradstreet and Barone 2012, "A Fast Way
of Calculating Exact Hypervolumes")."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from overtone.analysis.pareto import Scores, pareto_front
from overtone.analysis.staircase import Staircase


def hypervolume(points: Sequence[Scores], reference: Scores) -> float:
    """Return the volume of the region that the points dominate and that is better than `reference`.

    Args:
        points: Scores; higher numbers are better. Points that are not better than the reference in
            every objective add nothing.
        reference: The corner that the volume is measured from.

    >>> hypervolume([(3, 1), (1, 3)], (0, 0))
    5.0
    """
    inside = [
        tuple(a - r for a, r in zip(point, reference, strict=True))
        for point in points
        if all(a > r for a, r in zip(point, reference, strict=True))
    ]
    return _volume(inside)


def _volume(points: Sequence[tuple[float, ...]]) -> float:
    front = sorted({points[i] for i in pareto_front(points)}, reverse=True)
    if front and len(front[0]) in (2, 3):
        return _swept(front)
    total = 0.0
    for i, point in enumerate(front):
        # what a later point shares with this one is that of the corner that both dominate
        shared = [tuple(map(min, point, later)) for later in front[i + 1 :]]
        total += prod(point) - _volume(shared)
    return float(total)


def _swept(front: Sequence[tuple[float, ...]]) -> float:
    """Return the area or the volume of points that descend by the first objective: slice by slice."""
    total, area = 0.0, 0.0
    covered = Staircase()
    depths = [point[0] for point in front[1:]]
    for point, next_depth in zip(front, [*depths, 0.0], strict=True):
        rest = (1.0, *point[1:])[-2:]
        if not covered.covers(*rest):
            area += covered.add(*rest)
        total += area * (point[0] - next_depth)
    return total
