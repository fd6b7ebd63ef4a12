"""Trials that ended, as losses that every library can be told of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite

from overtone.core.types import Result
from overtone.searchers.flat import Flat

_LARGEST = 1e100
"""The value that replaces larger losses for libraries: squares of the largest floats overflow."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A trial that ended.

    Attributes:
        index: The index of its suggestion; -1 for known points and for trials added by a scheduler.
        flat: Its choices.
        result: Its last result; None if the trial failed.
        is_cut_short: Whether it was stopped before its own end.
    """

    index: int
    flat: Flat
    result: Result | None
    is_cut_short: bool = False


def loss(told: Finished) -> float:
    """Return the score with its sign turned; inf for what failed or violates a constraint."""
    result = told.result
    return inf if result is None or any(one > 0 for one in result.violations) else -result.score


def scaled(losses: Sequence[float]) -> list[float]:
    """Finite losses from 0, the best, to 1, the worst; all 0 where they are the same."""
    best = min(losses, default=0.0) / 2  # halves: the span of two floats may be none
    span = max(losses, default=0.0) / 2 - best or 1.0
    return [(one / 2 - best) / span for one in losses]


def finite_losses(told: Sequence[Finished]) -> list[float]:
    """Return the losses, where what is infinite is the worst and the best that are known."""
    found = [loss(one) for one in told]
    known = [min(max(one, -_LARGEST), _LARGEST) for one in found if isfinite(one)]
    best, worst = min(known, default=0.0), max(known, default=0.0)
    return [min(max(one, best), worst) for one in found]
