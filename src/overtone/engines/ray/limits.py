"""Limits of trials that are actors: enforced by a thread in each actor, and added up at the driver."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

from overtone.core.limits import TrialLimits
from overtone.core.messages import Start
from overtone.worker.limits.limit_usage import Amounts, UsageFile
from overtone.worker.limits.limit_watch import KEEP_EVERY_S, LOOK_EVERY_S, LimitWatch
from overtone.worker.message_codec import Message

NOTHING: Amounts = (0.0, 0.0)


class Held:
    """Ends the trial of this process when it exceeds a limit. Code that holds Python's GIL delays this.

    Args:
        limits: Limits of the trial.
        start: Start of the trial.
        before: Amounts that the trial used in earlier attempts.
        send: Sends a message to the driver, which ends the trial at an `ended` message.
    """

    def __init__(
        self, limits: TrialLimits, start: Start, before: Amounts, send: Callable[[Message], None]
    ) -> None:
        self._start, self._before, self._send = start, before, send
        self._is_over, self._lock, self._counts = Event(), Lock(), False
        self._watch = LimitWatch(limits, tally=self)
        self.go_on()
        Thread(target=self._run, name="overtone-limits", daemon=True).start()

    def go_on(self) -> None:
        """Resume counting the trial's time."""
        if self._counts:
            return
        self._counts = True
        with self._lock:
            self._watch.begin(0, os.getpid(), self._start.index)

    def pause(self) -> None:
        """Stop counting time while the trial waits for an order."""
        self._counts = False
        with self._lock:
            self._watch.end(0)

    def end(self) -> None:
        """Stop enforcing the limits, and report the amounts that the trial has used."""
        self._is_over.set()
        with self._lock, suppress(EOFError):
            self._watch.end(0)
            self._watch.keep()

    def read(self) -> dict[int, Amounts]:
        """Return the amounts used before this attempt, as a `UsageFile` does."""
        return {self._start.index: self._before}

    def write(self, used: Mapping[int, Amounts]) -> None:
        """Report used amounts to the driver; a trial without an entry, past a limit, restarts at zero."""
        start = self._start
        self._send(("used", start.trial_id, start.attempt, *used.get(start.index, NOTHING)))

    def _run(self) -> None:
        start = self._start
        with suppress(EOFError):  # the driver is gone, so this process ends
            while not self._is_over.wait(LOOK_EVERY_S):
                with self._lock:
                    found = self._watch.look()
                for _, _, error, family in found:
                    for pid in family - {os.getpid()}:
                        with suppress(OSError):
                            os.kill(pid, signal.SIGKILL)
                    self._send(("ended", start.trial_id, start.attempt, "limit", error, ""))


class Used:
    """Amounts that the trials of a run have used, including under earlier drivers.

    Args:
        folder: Folder of the experiment, which stores the amounts.
    """

    def __init__(self, folder: Path) -> None:
        self._tally = UsageFile(str(folder))
        self._used = self._tally.read()
        self._keep_at = 0.0

    def of(self, index: int) -> Amounts:
        """Return the amounts that one trial has used."""
        return self._used.get(index, NOTHING)

    def take(self, index: int, amounts: Amounts) -> None:
        """Record the amounts that a trial has used until now."""
        self._used[index] = amounts
        if time.monotonic() >= self._keep_at:
            self._keep_at = time.monotonic() + KEEP_EVERY_S
            self.keep()

    def keep(self) -> None:
        """Write the amounts to the experiment's folder, for later drivers."""
        self._tally.write(self._used)
