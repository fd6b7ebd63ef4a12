"""The spread of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from overtone.errors import ArgumentError


def standard_deviation(numbers: Sequence[float]) -> float:
    """Return the standard deviation of a population; NaN if a number is not finite."""
    mean = math.fsum(numbers) / len(numbers) if all(map(math.isfinite, numbers)) else math.nan
    return math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / len(numbers))


def check_mode(mode: Any) -> None:
    """Refuse anything but "min" and "max".

    Raises:
        ValueError: `mode` is something else.
    """
    if mode not in ("min", "max"):
        raise ArgumentError(f'mode={mode!r} must be "min" or "max"')
