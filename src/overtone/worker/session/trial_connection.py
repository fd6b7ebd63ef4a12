"""A trial's connection to its engine: its messages, and the orders for it."""

from __future__ import annotations

import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from overtone.core.job import Job
from overtone.core.messages import Halt, Proceed, Start
from overtone.errors import GangError, TrialHalted
from overtone.file_lock import open_locked
from overtone.store.folder_mark import JOURNAL
from overtone.store.room import PATIENCE_S
from overtone.worker.protocol import Channel, Nothing, Order, RanksGone
from overtone.worker.session.trial_context import Origin

_lock = -1
_said_at = 0.0


class TrialConnection(Origin):
    """Sends and receives for one trial, and knows whether the trial was halted.

    Attributes:
        is_halted: Whether the trial was told to end, or ended itself.
        has_halt: Whether a Halt came: a SIGTERM then hurries it, and takes the trial from nobody.
    """

    def __init__(self, job: Job, start: Start, channel: Channel) -> None:
        super().__init__(job, start)
        self.is_halted = self.has_halt = False
        self._channel = channel
        self._lock = threading.RLock()
        self._answers: deque[RanksGone] = deque()
        self._has_ranks = False

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
                self.has_halt = self.has_halt or isinstance(order, Halt)
                return order

    # --- ranks of distributed training: for `TrialHost` ----------------------------------

    def begin_ranks(self, generation: int, num_workers: int, address: str, token: str) -> None:
        """Ask the engine for ranks.

        Raises:
            GangError: The trial has ranks already, or its engine runs none.
            TrialHalted: The driver is gone.
        """
        with self._lock:
            if self._has_ranks:
                raise GangError("this trial has ranks already: shut them down before others are started")
            if self._channel.why_no_ranks:
                raise GangError(self._channel.why_no_ranks)
            self._send("make_ranks", generation, num_workers, address, token)
            self._has_ranks = True

    def end_ranks(self, generation: int) -> None:
        """Let the engine end the trial's ranks, and return when they are gone.

        Raises:
            TrialHalted: The driver is gone.
        """
        with self._lock:
            self._send("end_ranks", generation)
            while (answer := self._answer(wait=True)) is not None and answer.error:
                pass  # that they could not be made; the answer to this message follows
            self._has_ranks = False

    def why_no_ranks(self) -> str:
        """Return why the ranks could not be made, if the engine has said so by now; else "".

        Raises:
            TrialHalted: The driver is gone.
        """
        with self._lock:
            answer = self._answer(wait=False)
            return answer.error if answer is not None else ""

    def _answer(self, wait: bool) -> RanksGone | None:
        """Return the engine's next answer about ranks; None if none has come and `wait` is False.

        Orders that come before it stay for the next report.
        """
        orders: list[Order] = []
        try:
            while not self._answers:
                order = self._receive(wait)
                if isinstance(order, Nothing):
                    return None
                if isinstance(order, (Proceed, Halt)):
                    orders.append(order)
                else:
                    self._take_answer(order)
        finally:
            if orders:
                self._channel.put_back(orders)
        return self._answers.popleft()

    def _take_answer(self, order: Order | Nothing) -> None:
        """Keep an order that is no answer to a report."""
        if isinstance(order, RanksGone):
            self._answers.append(order)

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
