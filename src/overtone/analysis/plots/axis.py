"""The axis of a hyperparameter or a metric: numbers, logarithms or categories."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.goal import is_number
from overtone.reading.columns.trial_columns import Column

MOST_CATEGORIES = 50
"""An axis with more categories shows the most frequent ones, and the others as one category."""
_PADDING = 0.05
_LONGEST_LABEL = 40
_LOG_RATIO = 1_000
_LEAST, _MOST = float(np.finfo(float).smallest_subnormal), float(np.finfo(float).max)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Attributes:
        name: The hyperparameter or metric.
        low, high: Limits in data units, positive if `is_log`, and never equal: the values with 5 % of
            padding; half a position beyond the first and the last category.
        is_log: Whether the scale is logarithmic.
        labels: The texts of the categories at the positions 0, 1, ...; None for numbers.
        n_categories: The number of categories in the data; more than `len(labels)` if the last label
            stands for several.
    """

    name: str
    low: float
    high: float
    is_log: bool = False
    labels: tuple[str, ...] | None = None
    n_categories: int = 0

    def unit(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the places of values between `low` (0) and `high` (1)."""
        # Halves: the difference of two large numbers may be infinite.
        low, high = self._scaled(np.array([self.low, self.high])) / 2
        return np.asarray((self._scaled(values) / 2 - low) / (high - low))

    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values at places between 0 (`low`) and 1 (`high`)."""
        low, high = self._scaled(np.array([self.low, self.high]))
        values = low * (1 - places) + high * places
        if not self.is_log:
            return np.asarray(values)
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(10**values, _LEAST, _MOST))

    def _scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log10(values) if self.is_log else values


def number_axis(name: str, values: NDArray[np.float64], is_log: bool = False) -> Axis:
    """Return the axis of numbers.

    Args:
        values: float64, any shape; NaN are passed over.
        is_log: Whether a logarithmic scale is asked for: it is taken if all values are positive.
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return Axis(name, 0.0, 1.0)
    low, high = float(known.min()), float(known.max())
    if is_log and low > 0:
        ends = math.log10(low), math.log10(high)
        margin = (ends[1] - ends[0]) * _PADDING or _PADDING
        powers = Axis("", 1.0, 10.0, True).at(np.array([ends[0] - margin, ends[1] + margin]))
        return Axis(name, float(powers[0]), float(powers[1]), True)
    margin = high * _PADDING - low * _PADDING or abs(high) * _PADDING or 1.0
    return Axis(name, max(low - margin, -_MOST), min(high + margin, _MOST))


def value_axis(name: str, values: NDArray[np.float64], mode: str | None) -> Axis:
    """Return the axis of a metric: logarithmic for positive losses that differ by a factor of 1,000."""
    known = values[np.isfinite(values)]
    is_log = mode == "min" and bool(known.size) and 0 < known.min() <= known.max() / _LOG_RATIO
    return number_axis(name, known, is_log)


def param_axis(
    name: str, column: Column, used: NDArray[np.bool_], is_log: bool, *, numbers: bool = False
) -> tuple[Axis, NDArray[np.float64]]:
    """Return the axis of a hyperparameter and each trial's coordinate on it.

    Categories stand in the order of the column; if all are numbers, in ascending order. More than
    `MOST_CATEGORIES` are the most frequent ones and "others".

    Args:
        used: The trials that count for limits and categories, shape (trials,).
        is_log: Whether the parameter is searched on a logarithmic scale.
        numbers: Whether categories that are all numbers get an axis of numbers.

    Returns:
        The axis, and data units or positions, float64, shape (trials,); NaN if the value is missing, not
        finite, or of a trial that is not used.
    """
    known = used & ~column.missing
    if column.levels is None:
        values = np.where(known & np.isfinite(column.values), column.values, np.nan)
        return number_axis(name, values, is_log), values
    counts = np.bincount(column.values[known], minlength=len(column.levels))
    kept = _category_order(column.levels, np.flatnonzero(counts))
    if numbers and kept and all(_is_finite(column.levels[code]) for code in kept):
        table = np.full(len(column.levels), np.nan)
        table[kept] = [float(column.levels[code]) for code in kept]
        values = _looked_up(table, column, known)
        return number_axis(name, values, is_log), values
    n = len(kept)
    if n > MOST_CATEGORIES:
        frequent = sorted(kept, key=lambda code: -counts[code])[: MOST_CATEGORIES - 1]
        chosen = set(frequent)
        kept = [code for code in kept if code in chosen]
    table = np.full(len(column.levels), float(len(kept)))  # the position of "others"
    table[kept] = np.arange(len(kept))
    labels = unique_texts(str(column.levels[code]) for code in kept)
    if n > len(kept):
        labels = (*labels, f"{n - len(kept):,} others")
    return Axis(name, -0.5, max(len(labels), 1) - 0.5, False, labels, n), _looked_up(table, column, known)


def unique_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts, shortened in the middle; equal ones get " (2)", " (3)" and so on."""
    seen: dict[str, int] = {}
    result = []
    for text in texts:
        text = shortened(text)
        while text in seen:
            seen[text] += 1
            text = f"{text} ({seen[text]})"
        seen[text] = 1
        result.append(text)
    return tuple(result)


def shortened(text: str) -> str:
    """Return at most 40 characters: the beginning and the end."""
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 10]}…{text[-9:]}"


def _category_order(levels: tuple[Any, ...], codes: NDArray[np.int64]) -> list[int]:
    order: list[int] = codes.tolist()
    return sorted(order, key=levels.__getitem__) if all(_is_finite(levels[code]) for code in order) else order


def _is_finite(level: Any) -> bool:
    return is_number(level) and abs(level) <= _MOST


def _looked_up(table: NDArray[np.float64], column: Column, known: NDArray[np.bool_]) -> NDArray[np.float64]:
    values = np.full(len(known), np.nan)
    values[known] = table[column.values[known]]
    return values
