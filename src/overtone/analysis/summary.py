"""Summary of one metric over a trial's results, in six numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overtone.core.goal import is_number, lookup

SCOPES = ("last", "avg", "last-5-avg", "last-10-avg", "all")
"""The ways to reduce a trial's values of a metric to the value that ranks the trial."""


def values_of(results: Iterable[Mapping[str, Any]], metric: str) -> list[float]:
    """Return the metric's numbers, oldest first; results without it are passed over."""
    return [value for value in (lookup(result, metric) for result in results) if is_number(value)]


def summarize(values: Sequence[float]) -> dict[str, float]:
    """Return `{"max", "min", "avg", "last", "last-5-avg", "last-10-avg"}` of a metric's values.

    NaN is neither the max nor the min of a metric that had other values; an average over
    a NaN is NaN.

    Args:
        values: At least one, oldest first.
    """
    known = [value for value in values if value == value] or [math.nan]
    return {
        "max": max(known),
        "min": min(known),
        "avg": _mean(values),
        "last": values[-1],
        "last-5-avg": _mean(values[-5:]),
        "last-10-avg": _mean(values[-10:]),
    }


def _mean(values: Sequence[float]) -> float:
    try:
        return sum(values) / len(values)
    except OverflowError:  # ints beyond all floats
        return math.inf if sum(value > 0 for value in values) else -math.inf
