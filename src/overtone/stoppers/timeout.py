"""Ends the experiment after a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError
from overtone.stoppers.noop import NoopStopper

if TYPE_CHECKING:
    from datetime import timedelta


class TimeoutStopper(NoopStopper):
    """Ends the experiment when it has run for `timeout`, like `time_budget_s`.

    It has no clock: `tune.run` passes `timeout_s` to the controller, whose time continues across
    a resume. Called directly, the stopper never ends anything.

    Args:
        timeout: Seconds, or a timedelta.

    Attributes:
        timeout_s: In seconds.

    Raises:
        ValueError: `timeout` is not a time above 0.
    """

    def __init__(self, timeout: float | timedelta) -> None:
        given: Any = timeout
        seconds = given.total_seconds() if hasattr(given, "total_seconds") else given
        if isinstance(seconds, (bool, str)) or not hasattr(seconds, "__float__") or not float(seconds) > 0:
            raise ArgumentError(f"timeout={timeout!r} must be a number of seconds above 0, or a timedelta")
        self.timeout_s = float(seconds)

    def __repr__(self) -> str:
        return f"TimeoutStopper({self.timeout_s:g} s)"
