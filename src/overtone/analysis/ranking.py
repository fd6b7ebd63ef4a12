"""The best of several results by one metric; NaN never is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from overtone.core.goal import is_number, lookup

T = TypeVar("T")


def best_first(
    pairs: Iterable[tuple[T, dict[str, Any]]], metric: str, mode: str
) -> list[tuple[T, dict[str, Any]]]:
    """Return the (anything, result) pairs that have the metric, best first; ties go to the newer."""
    ranked = []
    for number, pair in enumerate(pairs):
        value = lookup(pair[1], metric)
        if is_number(value) and value == value:
            ranked.append((value if mode == "max" else -value, number, pair))
    ranked.sort(key=lambda one: one[:2], reverse=True)
    return [pair for _, _, pair in ranked]


def best_result(results: Iterable[Mapping[str, Any]], metric: str, mode: str) -> Mapping[str, Any] | None:
    """Return the first result with the best value; None where none has the metric. Holds one at a time."""
    best, best_value = None, math.nan
    for result in results:
        value = lookup(result, metric)
        if not is_number(value) or value != value:
            continue
        if best is None or (value > best_value if mode == "max" else value < best_value):
            best, best_value = result, value
    return best
