"""Times to an event that not everybody lived to see.

E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations (JASA 53, 1958):
the share that has not met the event at t is the product, over the times of events up to t, of
1 - events / those who were still under observation.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf


def kaplan_meier(times: Iterable[float], is_reached: Iterable[bool]) -> list[tuple[float, float]]:
    """(time, share that has reached the event by then), at each time of an event.

    Args:
        times: When each reached it, or was last seen without.
        is_reached: Which of the two it was.
    """
    seen = sorted(
        zip(map(float, times), map(bool, is_reached), strict=True), key=lambda one: (one[0], not one[1])
    )
    curve: list[tuple[float, float]] = []
    without, left, i = 1.0, len(seen), 0
    while i < len(seen):
        at = seen[i][0]
        same = [reached for time, reached in seen[i:] if time == at]
        events = sum(same)
        if events:
            without *= 1 - events / left
            curve.append((at, 1 - without))
        left -= len(same)
        i += len(same)
    return curve


def median_time(times: Iterable[float], is_reached: Iterable[bool]) -> float:
    """When half of them have reached it; infinite where that was not seen.

    Where exactly half have, it is the middle of the time until the next one does, so that
    without censoring it is the ordinary median.
    """
    curve = kaplan_meier(times, is_reached)
    for i, (at, share) in enumerate(curve):
        if abs(share - 0.5) < 1e-9 and i + 1 < len(curve):
            return (at + curve[i + 1][0]) / 2
        if share >= 0.5 - 1e-9:
            return at
    return inf
