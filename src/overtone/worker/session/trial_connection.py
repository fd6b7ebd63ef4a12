"""A trial's connection to its engine: its messages, and the orders for it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from overtone.core.job import Job
from overtone.core.messages import Halt, Start
from overtone.errors import TrialHalted
from overtone.file_lock import open_locked
from overtone.store.folder_mark import JOURNAL
from overtone.store.room import PATIENCE_S
from overtone.worker.protocol import Channel, Nothing, Order
from overtone.worker.session.trial_context import Origin

_lock = -1
_said_at = 0.0


class Line(Origin):
    """Sends and receives for one trial, and knows whether the trial was halted.

    Attributes:
        is_halted: Whether the trial was told to end, or ended itself.
    """

    def __init__(self, job: Job, start: Start, channel: Channel) -> None:
        super().__init__(job, start)
        self.is_halted = False
        self._channel = channel

    @property
    def is_active(self) -> bool:
        """Whether the trial continues."""
        return not self.is_halted

    def _send(self, kind: str, *rest: Any) -> None:
        try:
            self._channel.send((kind, self._start.trial_id, self._start.attempt, *rest))
        except EOFError:
            raise self._ended("the driver is gone") from None

    def _receive(self, wait: bool) -> Order | Nothing:
        """Return the next order for this trial."""
        while True:
            try:
                order = self._channel.receive(wait)
            except EOFError:
                raise self._ended("the driver is gone") from None
            if order is None:
                raise self._ended("the engine shuts down")
            if isinstance(order, Nothing):
                return order
            if order.trial_id == self._start.trial_id and order.attempt == self._start.attempt:
                return order

    def _say_for_all(self, text: str) -> None:
        """Print a line once for all trials; the driver prints it if output goes to files."""
        if not _may_speak(self._job.folder):
            return
        if self._job.log_to_file is None:
            self._keeper.say(text)
        else:
            self._send("no_room", text)

    def _ended(self, reason: str) -> TrialHalted:
        """Mark the trial as halted, and return the exception to raise."""
        self.is_halted = True
        return TrialHalted(reason)

    def _halt_by_notice(self) -> Halt:
        return Halt(self._start.trial_id, self._start.attempt, save=True)


def _may_speak(folder: Path) -> bool:
    """Return whether this process may print the line: no other one has, nor this one lately.

    The process that may print holds a lock on the journal until its end. Nothing is written: the disk
    may be full. Without a journal, or without locks, each process may print.
    """
    global _lock, _said_at
    now = time.monotonic()
    if _lock >= 0:
        is_due, _said_at = now - _said_at > PATIENCE_S, now
        return is_due
    try:
        file = open_locked(folder / JOURNAL)
    except OSError:
        return True
    if file is None:
        return False
    _lock, _said_at = file, now
    return True
