"""Check of whether an experiment bounds the length of its trials."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature

from overtone.core.limits import TrialLimits
from overtone.core.protocols import Stopper, TrialScheduler
from overtone.stoppers import Adapter, NoopStopper


def is_bounded(
    scheduler: TrialScheduler,
    stoppers: Iterable[Stopper],
    time_budget_s: float | None,
    trial_limits: TrialLimits | None,
) -> bool:
    """Return whether `stop`, `max_t` or a time limit may end a trial."""
    given = [one.stopper if isinstance(one, Adapter) else one for one in stoppers]
    has_stop = not all(isinstance(one, NoopStopper) for one in given)
    has_time = time_budget_s is not None or (trial_limits is not None and trial_limits.time_s is not None)
    return has_stop or has_time or _ends_trials(scheduler)


def _ends_trials(scheduler: TrialScheduler) -> bool:
    """Return whether a scheduler, or its inner one, has a `max_t`; custom ones are assumed to end trials."""
    if not type(scheduler).__module__.startswith("overtone."):
        return True
    args, kwargs = scheduler.arguments
    if any(_ends_trials(one) for one in (*args, *kwargs.values()) if isinstance(one, TrialScheduler)):
        return True
    return "max_t" in signature(type(scheduler)).parameters and bool(kwargs.get("stop_last_trials", True))
