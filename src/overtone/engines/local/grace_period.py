"""Ends attempts whose processes do not exit in time: SIGTERM first, then SIGKILL."""

from __future__ import annotations

from collections.abc import Callable

from overtone.engines.local.process import LocalAttempt
from overtone.engines.loop import Loop
from overtone.worker.server import requests

LAST_GRACE_S = 2.0
"""Maximum time from SIGTERM to SIGKILL."""


class Patience:
    """Deadlines of attempts that were told to end.

    Args:
        loop: The loop that runs the timers.
        grace_s: Seconds until SIGTERM, and an upper bound for those from SIGTERM to SIGKILL.
        signal: Called with an attempt and `requests.TERMINATE` or `requests.KILL`, for all its processes.
    """

    def __init__(self, loop: Loop, grace_s: float, signal: Callable[[LocalAttempt, bytes], None]) -> None:
        self.grace_s = grace_s
        self._loop = loop
        self._signal = signal
        self._until: dict[LocalAttempt, float] = {}
        self._armed: float | None = None

    def start(self, attempt: LocalAttempt, at_most_s: float | None = None) -> None:
        """Start the grace period of an attempt now; after a notice, the running deadline stays."""
        if not (attempt.is_noticed and attempt in self._until):
            attempt.grace_s = self.grace_s if at_most_s is None else min(self.grace_s, at_most_s)
            self._give(attempt, attempt.grace_s)

    def stop(self, attempt: LocalAttempt) -> None:
        """Cancel the deadline of an attempt, unless it had a notice."""
        if not attempt.is_noticed:
            self._until.pop(attempt, None)

    def forget(self, attempt: LocalAttempt) -> None:
        """Cancel the deadline of an attempt that has ended."""
        self._until.pop(attempt, None)

    def _give(self, attempt: LocalAttempt, in_s: float) -> None:
        at = self._loop.now() + in_s
        self._until[attempt] = at
        self._arm(at)

    def _arm(self, at: float) -> None:
        # one timer for all attempts: most end long before their deadline
        if self._armed is None or at < self._armed:
            self._armed = at
            self._loop.at(at, self._check)

    def _check(self) -> None:
        now = self._loop.now()
        self._armed = None
        for attempt in [one for one, at in self._until.items() if at <= now]:
            del self._until[attempt]
            if attempt.is_terminated or attempt.is_noticed or attempt.ended is not None:
                self._signal(attempt, requests.KILL)
            else:
                for process in attempt.processes:
                    process.is_terminated = True
                self._signal(attempt, requests.TERMINATE)
                self._give(attempt, min(self.grace_s, LAST_GRACE_S))
        if self._until:
            self._arm(min(self._until.values()))
