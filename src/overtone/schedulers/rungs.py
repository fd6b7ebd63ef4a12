"""What the halving schedulers share: where the rungs are, and what it takes to pass one."""

from __future__ import annotations

from collections.abc import Sequence


def milestones(first: float, last: float, factor: float, skip: int = 0) -> list[float]:
    """The rungs first * factor^k <= last, ascending, without the lowest `skip`.

    By repeated multiplication, which is exact for whole numbers: no logarithm loses 3^5.
    The last of them is left out where it is `last` itself: there is nothing to decide.
    """
    rungs, rung = [], first * factor**skip
    while rung < last:
        rungs.append(rung)
        rung *= factor
    return rungs


def cutoff(ascending: Sequence[float], factor: float) -> float | None:
    """The (1 - 1/factor) quantile, linearly interpolated; None where there are no values."""
    if not ascending:
        return None
    place = (len(ascending) - 1) * (1 - 1 / factor)
    below = int(place)
    low, high = ascending[below], ascending[min(below + 1, len(ascending) - 1)]
    return low if low == high or place == below else low + (high - low) * (place - below)
