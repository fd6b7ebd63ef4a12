"""The base class of users' own schedulers, with decisions as plain flags."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from overtone.core.decision import CONTINUE, SAVE, Decision, Pause, Stop
from overtone.core.types import Result, Why
from overtone.errors import ArgumentError
from overtone.schedulers import base
from overtone.schedulers.base import WithController, n_arguments
from overtone.schedulers.fifo import FIFOScheduler as FIFOScheduler


class TrialScheduler(base.TrialScheduler):
    """A scheduler whose `on_result` may return a flag instead of a decision."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if WithController in cls.__mro__:
            return
        if "on_result" in vars(cls):
            cls.on_result = _with_flags(cls.on_result, cls.__name__)  # type: ignore[assignment,method-assign]
        choose = vars(cls).get("choose_trial_to_run")
        if choose is not None and n_arguments(choose) == 1:  # the paper's signature, without trials
            cls.choose_trial_to_run = lambda self, trials: choose(self)  # type: ignore[method-assign]


def _with_flags(
    on_result: Callable[[Any, Any, Result], Any], rule: str
) -> Callable[[Any, Any, Result], Decision]:
    """Wrap `on_result` to convert a returned flag to a decision."""

    @functools.wraps(on_result)
    def decided(self: Any, trial: Any, result: Result) -> Decision:
        answer = on_result(self, trial, result)
        return decision_of(answer, rule, result.t) if isinstance(answer, str) else answer

    return decided


def decision_of(flag: str, rule: str, t: float) -> Decision:
    """Return the decision that a flag stands for.

    Raises:
        ValueError: `flag` is not a flag.
    """
    if flag in (TrialScheduler.CONTINUE, TrialScheduler.NOOP):
        return CONTINUE
    if flag == TrialScheduler.SAVE:
        return SAVE
    if flag == TrialScheduler.PAUSE:
        return Pause(Why(rule=rule, t=t))
    if flag == TrialScheduler.STOP:
        return Stop(Why(rule=rule, t=t))
    raise ArgumentError(f"{rule}.on_result returned {flag!r}: return CONTINUE, SAVE, PAUSE or STOP")
