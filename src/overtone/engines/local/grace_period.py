"""Ends processes that do not exit in time: SIGTERM first, then SIGKILL."""

from __future__ import annotations

from collections.abc import Callable

from overtone.engines.local.process import TrialProcess
from overtone.engines.loop import Loop
from overtone.worker.server import requests

LAST_GRACE_S = 2.0
"""Maximum time from SIGTERM to SIGKILL."""


class Patience:
    """Deadlines of processes that were told to end.

    Args:
        loop: The loop that runs the timers.
        grace_s: Seconds until SIGTERM, and an upper bound for those from SIGTERM to SIGKILL.
        signal: Called with a process and `requests.TERMINATE` or `requests.KILL`.
    """

    def __init__(self, loop: Loop, grace_s: float, signal: Callable[[TrialProcess, bytes], None]) -> None:
        self.grace_s = grace_s
        self._loop = loop
        self._signal = signal
        self._until: dict[TrialProcess, float] = {}
        self._armed: float | None = None

    def start(self, process: TrialProcess, at_most_s: float | None = None) -> None:
        """Start the grace period of a process now; after a notice, the running deadline stays."""
        if not (process.is_noticed and process in self._until):
            process.grace_s = self.grace_s if at_most_s is None else min(self.grace_s, at_most_s)
            self._give(process, process.grace_s)

    def stop(self, process: TrialProcess) -> None:
        """Cancel the deadline of a process, unless the process had a notice."""
        if not process.is_noticed:
            self._until.pop(process, None)

    def forget(self, process: TrialProcess) -> None:
        """Cancel the deadline of a process that has ended, or whose trial has ended."""
        self._until.pop(process, None)

    def _give(self, process: TrialProcess, in_s: float) -> None:
        at = self._loop.now() + in_s
        self._until[process] = at
        self._arm(at)

    def _arm(self, at: float) -> None:
        # one timer for all processes: most end long before their deadline
        if self._armed is None or at < self._armed:
            self._armed = at
            self._loop.at(at, self._check)

    def _check(self) -> None:
        now = self._loop.now()
        self._armed = None
        for process in [one for one, at in self._until.items() if at <= now]:
            del self._until[process]
            if process.is_terminated or process.is_noticed or process.ended is not None:
                self._signal(process, requests.KILL)
            else:
                process.is_terminated = True
                self._signal(process, requests.TERMINATE)
                self._give(process, min(self.grace_s, LAST_GRACE_S))
        if self._until:
            self._arm(min(self._until.values()))
