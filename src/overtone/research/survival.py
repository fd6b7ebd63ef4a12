"""Times to an event that not everybody lived to see.

E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations (JASA 53, 1958):
the share that has not met the event at t is the product, over the times of events up to t, of
1 - events / those who were still under observation.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf


def kaplan_meier(times: Iterable[float], is_reached: Iterable[bool]) -> list[tuple[float, float]]:
    """Return (time, share that has reached the event by then), at each time of an event.

    Args:
        times: When each reached it, or was last seen without.
        is_reached: Which of the two it was.
    """
    from scipy.stats import CensoredData, ecdf

    seen = list(zip(map(float, times), is_reached, strict=True))
    events = [time for time, reached in seen if reached]
    if not events:
        return []
    share = ecdf(CensoredData(events, right=[time for time, reached in seen if not reached])).cdf
    at = sorted(set(events))
    return list(zip(at, map(float, share.evaluate(at)), strict=True))


def median_time(times: Iterable[float], is_reached: Iterable[bool]) -> float:
    """Return the time at which half of them have reached it; infinite if that was not seen.

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
