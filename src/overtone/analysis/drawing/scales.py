"""From values to places along an axis, and the ticks of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overtone.analysis.drawing.labels import duration, number
from overtone.analysis.drawing.scene import Axis, Band, Bars, Cells, Floats, Mark

_TIME_STEPS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """Values of an axis as shares of its length, 0 at the low end.

    Attributes:
        axis: The axis.
        low, high: Its limits, in units of the axis (for a logarithmic axis, powers of ten).
    """

    axis: Axis
    low: float
    high: float

    def shares(self, values: Any) -> Floats:
        """Return the place of each value: NaN where the axis cannot show it."""
        values = self._units(np.asarray(values, dtype=np.float64))
        # Halves: the difference of two large numbers may be infinite.
        shares = (values / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        placed: Floats = 1.0 - shares if self.axis.is_reversed else shares
        return placed

    def _units(self, values: Floats) -> Floats:
        if self.axis.scale != "log":
            return np.where(np.isfinite(values), values, np.nan)
        positive = np.isfinite(values) & (values > 0)
        return np.log10(np.where(positive, values, 1.0)) + np.where(positive, 0.0, np.nan)

    def ticks(self, room: float) -> list[tuple[float, str]]:
        """Return (share, label) pairs of about one tick per 60 pixels of `room`, at least two."""
        axis = self.axis
        if axis.ticks:
            pairs = [(value, label) for value, label in axis.ticks]
        elif axis.scale == "category":
            pairs = [(float(i), label) for i, label in enumerate(axis.categories)]
        elif axis.scale == "log":
            pairs = _log_ticks(self.low, self.high, max(2, int(room / 45)))
        else:
            pairs = _linear_ticks(self.low, self.high, max(2, int(room / 60)), axis)
            if len(pairs) < 2:  # one tick tells no distances
                pairs = _linear_ticks(self.low, self.high, 5, axis)
        placed = zip(self.shares([value for value, _ in pairs]).tolist(), pairs, strict=True)
        return [(share, label) for share, (_, label) in placed if -1e-9 <= share <= 1 + 1e-9]


def scale_of(axis: Axis, marks: Sequence[Mark], of_x: bool) -> Scale:
    """Return the scale of an axis, wide enough for all marks."""
    if axis.scale == "category":
        return Scale(axis, -0.5, max(0.5, len(axis.categories) - 0.5))
    low, high = math.inf, -math.inf
    for values in _extents(marks, of_x):
        usable = values[np.isfinite(values) & ((values > 0) | (axis.scale != "log"))]
        if len(usable):
            low, high = min(low, float(usable.min())), max(high, float(usable.max()))
    if low > high:
        low, high = (1.0, 10.0) if axis.scale == "log" else (0.0, 1.0)
    is_tight = any(isinstance(mark, Cells) for mark in marks)
    low, high = _padded(axis, low, high, 0.0 if is_tight else 0.04)
    return Scale(axis, low, high)


def _padded(axis: Axis, low: float, high: float, share: float) -> tuple[float, float]:
    given = (axis.low, axis.high)
    low = low if given[0] is None else given[0]
    high = high if given[1] is None else given[1]
    if axis.scale == "log":
        low, high = math.log10(low), math.log10(max(high, low))
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        half = abs(low) * 0.1 or 0.5
        low, high = low - half, low + half
    margin = (high / 2 - low / 2) * share * 2
    limit = float(np.finfo(np.float64).max)
    low = low if given[0] is not None else max(low - margin, -limit)
    return low, (high if given[1] is not None else min(high + margin, limit))


def _extents(marks: Sequence[Mark], of_x: bool) -> Iterable[Floats]:
    for mark in marks:
        if isinstance(mark, Cells):
            yield mark.x_edges if of_x else mark.y_edges
        elif isinstance(mark, Band):
            yield from ((mark.x,) if of_x else (mark.low, mark.high))
        elif isinstance(mark, Bars):
            if mark.is_horizontal == of_x:
                ends = (mark.start, mark.end, mark.error_low, mark.error_high)
                yield from (end for end in ends if end is not None)
            else:
                yield mark.at - mark.thickness / 2
                yield mark.at + mark.thickness / 2
        else:
            yield mark.x if of_x else mark.y


def _linear_ticks(low: float, high: float, most: int, axis: Axis) -> list[tuple[float, str]]:
    step = _time_step(high - low, most) if axis.is_time else _step(high / most - low / most)
    step = max(1.0, step) if axis.is_whole else step
    first = math.ceil(low / step - 1e-9)
    values = [i * step for i in range(first, first + most + 2) if i * step <= high + step * 1e-9]
    if axis.is_time:
        unit, name = next(
            (unit, name)
            for unit, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (0.0, "s"))
            if step >= unit
        )
        if not unit:
            return [(value, duration(value) if abs(value) < 120 else f"{value:g} s") for value in values]
        return [(value, f"{value / unit:g} {name}" if value else "0") for value in values]
    largest = max(map(abs, values), default=0.0)
    if largest >= 1e7 or (0 < largest < 1e-3):
        return [(value, number(float(f"{value:.6g}"))) for value in values]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
    return [(value, f"{value + 0.0:,.{decimals}f}") for value in values]


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 1e-300 else 1e-300
    return next((power * n for n in (1.0, 2.0, 5.0) if power * n >= rough * (1 - 1e-9)), power * 10)


def _time_step(span: float, most: int) -> float:
    rough = span / most
    for unit, end in ((1.0, 60.0), (60.0, 3600.0)):
        if rough <= 0.5 * end and rough >= 0.5 * unit:
            return next((unit * n for n in _TIME_STEPS if unit * n >= rough * (1 - 1e-9)), end)
    if rough < 0.5:
        return _step(rough)
    if rough <= 43200.0:
        return next((3600.0 * n for n in (1.0, 2.0, 3.0, 6.0, 12.0) if 3600.0 * n >= rough), 86400.0)
    return max(1.0, _step(rough / 86400.0)) * 86400.0


def power_of_ten(exponent: float) -> float:
    """Return 10 to the power of a number, at least the least positive float and at most the greatest."""
    limits = np.finfo(np.float64)
    if exponent >= math.log10(limits.max):
        return float(limits.max)
    return max(math.pow(10.0, exponent), float(limits.smallest_subnormal))


def _log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return powers of ten, or 1, 2 and 5 times powers of ten in a short range."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    n_powers = last - first + 1
    if n_powers >= 3 or high - low > 4:
        every = max(1, math.ceil(n_powers / most))
        return [
            (10.0**power, number(10.0**power))
            for power in range(first, last + 1, every)
            if -300 < power < 300
        ]
    if high - low < 0.25:
        return [
            (value, number(value))
            for value, _ in _linear_ticks(power_of_ten(low), power_of_ten(high), max(2, min(most, 4)), Axis())
            if value > 0
        ]
    values = [
        factor * 10.0**power
        for power in range(max(math.floor(low), -320), min(math.ceil(high), 307) + 1)
        for factor in (1.0, 2.0, 5.0)
    ]
    return [(value, number(value)) for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]
