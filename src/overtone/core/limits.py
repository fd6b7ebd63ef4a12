"""Bounds of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of an experiment: the header of its journal has the first, and each Resumed the later ones.

    Attributes:
        total: Number of trials that the searcher will suggest; None if unknown.
        lookahead: Number of suggestions that may wait for a free slot.
        max_concurrent: Largest number of trials at the same time; None for as many as fit.
        max_failures: Number of retries of a failed trial; -1 for no limit.
        fail_fast: Whether the first failed trial ends the search.
        time_budget_s: Seconds after which the search ends; None for no limit.
        max_parked: Number of paused processes that may wait in report().
        is_elastic: Whether a trial that exceeds the current capacity waits instead of failing.
    """

    total: int | None = None
    lookahead: int = 0
    max_concurrent: int | None = None
    max_failures: int = 0
    fail_fast: bool = False
    time_budget_s: float | None = None
    max_parked: int = 16
    is_elastic: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Limits:
        """Return recorded limits; fields unknown to this version are ignored."""
        return cls(**{one.name: data[one.name] for one in fields(cls) if one.name in data})
