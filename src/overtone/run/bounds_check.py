"""Check of whether an experiment bounds the length of its trials."""

from __future__ import annotations

from collections.abc import Iterable

from overtone.core.protocols import Stopper, TrialScheduler
from overtone.core.trial_limits import TrialLimits


def is_bounded(
    scheduler: TrialScheduler,
    stoppers: Iterable[Stopper],
    time_budget_s: float | None,
    trial_limits: TrialLimits | None,
) -> bool:
    """Return whether `stop`, `max_t` or a time limit may end a trial."""
    has_time = time_budget_s is not None or (trial_limits is not None and trial_limits.time_s is not None)
    return has_time or scheduler.ends_trials or any(one.ends_trials for one in stoppers)
