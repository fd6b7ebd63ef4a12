"""Up to which iteration trials are thought to go on beyond what was recorded of them."""

from __future__ import annotations

from math import ceil
from typing import Any

from overtone.core.protocols import TrialScheduler
from overtone.research.recording import Recording
from overtone.schedulers.arguments import is_number


def horizon(recording: Recording, scheduler: Any) -> tuple[int, str]:
    """Return the last iteration, and a sentence if it is uncertain, else "".

    If a recorded trial finished, it is the length of the longest curve. Otherwise the end of trials
    is unknown, and it is the iteration at which `scheduler` ends them.
    """
    longest = max(len(one.points) for one in recording.curves)
    if any(one.is_whole for one in recording.curves):
        return longest, ""
    if (end := _end(scheduler)) is not None:
        return max(longest, end), ""
    return longest, (
        "no recorded trial came to its own end, and the scheduler has no max_t: those that would go on "
        f"beyond their recording are thought to end at {longest}, where the longest one did"
    )


def _end(scheduler: Any) -> int | None:
    """Return the iteration at which it ends each trial, itself or through the scheduler that it wraps."""
    from inspect import signature

    from overtone.named import create_scheduler

    if scheduler is None:
        return None
    made = create_scheduler(scheduler) if isinstance(scheduler, str) else scheduler
    kind, (args, kwargs) = (made, ((), {})) if isinstance(made, type) else (type(made), made.arguments)
    bound = signature(kind).bind_partial(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    if isinstance(base := given.get("base_scheduler"), TrialScheduler):
        return _end(base)
    if given.get("time_attr", "training_iteration") != "training_iteration":
        return None
    is_end = is_number(given.get("max_t")) and given.get("stop_last_trials", True)
    return ceil(given["max_t"]) if is_end else None
