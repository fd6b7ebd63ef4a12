"""Checks of `num_samples` and other whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from overtone.errors import ArgumentError, SpaceError

ENDLESS = -1
"""The `num_samples` without a limit: something else ends the experiment."""


def checked_samples(num_samples: Any) -> int:
    """Return `num_samples` as an int.

    Raises:
        SpaceError: It is neither a whole number above 0 nor -1.
    """
    is_whole = hasattr(num_samples, "__index__") and not isinstance(num_samples, bool)
    if not is_whole or (num_samples < 1 and num_samples != ENDLESS):
        raise SpaceError(f"num_samples={num_samples!r} must be 1 or more, or -1 to go on without end")
    return int(num_samples)


def total_of(num_samples: int | None) -> int | None:
    """Return the number of trials of a searcher with one trial per sample; None for no limit."""
    samples = checked_samples(1 if num_samples is None else num_samples)
    return None if samples == ENDLESS else samples


def check_counts(searcher: Any, names: Iterable[str]) -> None:
    """See that a searcher's `seed` and what else has these names are whole numbers.

    Raises:
        ValueError: One is none, or is below 0.
    """
    for name in ("seed", *names):
        value = vars(searcher).get(name)
        is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
        if value is not None and not (is_whole and (name == "seed" or value >= 0)):
            least = "" if name == "seed" else ", 0 or more"
            raise ArgumentError(f"{type(searcher).__name__}: {name}={value!r} must be a whole number{least}")
