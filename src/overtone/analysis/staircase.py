"""The region of a plane that points dominate: everything below and left of any of them."""

from __future__ import annotations

from bisect import bisect_left


class Staircase:
    """Points of which none dominates another, and the area that they cover from the corner (0, 0) on."""

    def __init__(self) -> None:
        self._ys: list[float] = []  # ascend
        self._zs: list[float] = []  # descend

    def covers(self, y: float, z: float) -> bool:
        """Return whether a point is nowhere better than one of the others."""
        place = bisect_left(self._ys, y)
        return place < len(self._ys) and self._zs[place] >= z

    def add(self, y: float, z: float) -> float:
        """Add a point that is not covered, remove the points that it covers, and return the added area."""
        ys, zs = self._ys, self._zs
        end = bisect_left(ys, y)
        floor = zs[end] if end < len(zs) else 0.0
        begin, right, area = end, y, 0.0
        while begin and zs[begin - 1] <= z:
            begin -= 1
            area += (right - ys[begin]) * (z - floor)
            right, floor = ys[begin], zs[begin]
        area += (right - (ys[begin - 1] if begin else 0.0)) * (z - floor)
        if end < len(ys) and ys[end] == y:
            end += 1
        ys[begin:end], zs[begin:end] = [y], [z]
        return area
