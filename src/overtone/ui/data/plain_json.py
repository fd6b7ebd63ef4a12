"""Users' values as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_DEEPEST = 60
_MOST_SAFE = 2**53
"""Greater integers are rounded by JavaScript: they are sent as texts."""


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as strict JSON data that JavaScript reads without loss.

    Numbers that are not finite become "NaN", "Infinity" and "-Infinity"; integers beyond 2^53 become texts,
    and so do objects that are not data.
    """
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # a lone surrogate is not UTF-8
    if isinstance(value, (int, np.integer)):
        return int(value) if -_MOST_SAFE <= value <= _MOST_SAFE else str(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else _named(float(value))
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, Mapping):
        return {plain(str(name)): plain(one, depth + 1) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one, depth + 1) for one in value]
    return plain(str(value))


def _named(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def nullable(values: Any) -> list[Any]:
    """Return numbers of an array as a list, with None for those that are not finite."""
    numbers = np.asarray(values)
    if numbers.dtype.kind != "f":
        return numbers.tolist()  # type: ignore[no-any-return]
    if np.isfinite(numbers).all():
        return numbers.tolist()  # type: ignore[no-any-return]
    return [one if math.isfinite(one) else None for one in numbers.tolist()]
