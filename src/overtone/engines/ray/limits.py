"""Limits of trials that are actors: held from a thread beside each, and added up at the driver."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

from overtone.core.messages import Start
from overtone.core.trial_limits import TrialLimits
from overtone.worker.limits.limit_usage import Amounts, Tally
from overtone.worker.limits.limit_watch import KEEP_EVERY_S, LOOK_EVERY_S, Watch
from overtone.worker.message_codec import Message

NOTHING: Amounts = (0.0, 0.0)


class Held:
    """Ends the trial of this process once it is past a limit. Code that keeps Python's lock delays it.

    Args:
        limits: What it may use.
        start: The trial's.
        before: What it had used in earlier attempts.
        send: Tells the driver; its `ended` is the trial's end.
    """

    def __init__(
        self, limits: TrialLimits, start: Start, before: Amounts, send: Callable[[Message], None]
    ) -> None:
        self._start, self._before, self._send = start, before, send
        self._is_over, self._lock, self._counts = Event(), Lock(), False
        self._watch = Watch(limits, tally=self)
        self.go_on()
        Thread(target=self._run, name="overtone-limits", daemon=True).start()

    def go_on(self) -> None:
        """From now on its time counts."""
        if self._counts:
            return
        self._counts = True
        with self._lock:
            self._watch.begin(0, os.getpid(), self._start.index)

    def pause(self) -> None:
        """It waits to be told to go on."""
        self._counts = False
        with self._lock:
            self._watch.end(0)

    def end(self) -> None:
        """Hold it no longer, and tell what it has used."""
        self._is_over.set()
        with self._lock, suppress(EOFError):
            self._watch.end(0)
            self._watch.keep()

    def read(self) -> dict[int, Amounts]:
        """As of a Tally."""
        return {self._start.index: self._before}

    def write(self, used: Mapping[int, Amounts]) -> None:
        """As of a Tally; who is past a limit begins with nothing."""
        start = self._start
        self._send(("used", start.trial_id, start.attempt, *used.get(start.index, NOTHING)))

    def _run(self) -> None:
        start = self._start
        with suppress(EOFError):  # the driver is gone, and this process ends
            while not self._is_over.wait(LOOK_EVERY_S):
                with self._lock:
                    found = self._watch.look()
                for _, _, error, family in found:
                    for pid in family - {os.getpid()}:
                        with suppress(OSError):
                            os.kill(pid, signal.SIGKILL)
                    self._send(("ended", start.trial_id, start.attempt, "limit", error, ""))


class Used:
    """What the trials of a run have used, also under earlier drivers.

    Args:
        folder: The experiment's, where it is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._tally = Tally(str(folder))
        self._used = self._tally.read()
        self._keep_at = 0.0

    def of(self, index: int) -> Amounts:
        """Of one trial."""
        return self._used.get(index, NOTHING)

    def take(self, index: int, amounts: Amounts) -> None:
        """Take note of what a trial has used by now."""
        self._used[index] = amounts
        if time.monotonic() >= self._keep_at:
            self._keep_at = time.monotonic() + KEEP_EVERY_S
            self.keep()

    def keep(self) -> None:
        """Write it down for those who come after."""
        self._tally.write(self._used)
