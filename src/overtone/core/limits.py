"""What bounds an experiment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds an experiment.

    Attributes:
        total: How many trials the searcher will suggest; None where that is unknown.
        lookahead: How many suggestions may wait for a free slot.
        max_concurrent: At most so many trials at once; None for as many as fit.
        max_failures: How often a failed trial is tried again; -1 for ever.
        fail_fast: Whether the first failed trial ends the search.
        time_budget_s: When the search ends.
        max_parked: How many paused processes may wait in report().
        is_elastic: Whether a trial waits for capacity that is not there now, instead of failing.
    """

    total: int | None = None
    lookahead: int = 0
    max_concurrent: int | None = None
    max_failures: int = 0
    fail_fast: bool = False
    time_budget_s: float | None = None
    max_parked: int = 16
    is_elastic: bool = False
