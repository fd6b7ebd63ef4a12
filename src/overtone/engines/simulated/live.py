"""An ordinary trainable in virtual time: it runs for real, in a thread of its own, one at a time.

The engine's thread and the trial's hand over to each other: at any moment one of them runs and
the others stand still, so that nothing depends on how the machine schedules threads. What a
trial computes takes no virtual time; `tune.simulate_time(seconds)` does.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.worker.message_codec import Message
from overtone.worker.protocol import NOTHING, Nothing, Order
from overtone.worker.session import current
from overtone.worker.session.session import Session

UNWIND_S = 10.0
"""How long a trial whose process is gone may take, in real time, to notice."""


class LiveTrial:
    """One trial's thread, and its line to the engine.

    Args:
        now: The engine's clock.
        slowness: What its times are multiplied with.
        save_s: What a checkpoint costs.

    Attributes:
        messages: What it said since the engine last looked.
        orders: What it was told, and has not heard.
        due: When it goes on by itself; None where it waits for an order, or has ended.
        has_ended: Whether its thread is done.
    """

    def __init__(
        self, job: Job, start: Start, now: Callable[[], float], slowness: float, save_s: float
    ) -> None:
        self.messages: deque[Message] = deque()
        self.orders: deque[Order] = deque()
        self.due: float | None = None
        self.has_ended = False
        self._job, self._start = job, start
        self._now, self._slowness, self._save_s = now, slowness, save_s
        self._spent_s = 0.0
        self._is_gone = False
        self._session: Session | None = None
        self._goes, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None

    # --- the engine's side -----------------------------------------------------------------

    def go_on(self) -> None:
        """Let it run until it waits for an order, or for its time to pass, or ends."""
        if self.has_ended:
            return
        before = current.swap(self._session)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._start.trial_id, daemon=True)
            self._thread.start()
        else:
            self._goes.release()
        self._stands.acquire(timeout=UNWIND_S if self._is_gone else None)
        self._session = current.swap(before)

    def vanish(self) -> None:
        """Its process is gone: let it unwind, unheard."""
        self._is_gone = True
        self.orders.clear()
        if self._thread is not None:
            self.go_on()
        self.messages.clear()

    # --- the trial's side ------------------------------------------------------------------

    def clock(self) -> float:
        """The virtual time, as the trial has it."""
        return self._now() + self._spent_s

    def spend(self, seconds: float) -> None:
        """The trial trained for so long."""
        self._spent_s += seconds * self._slowness

    def send(self, message: Message) -> None:
        if message[0] in ("reported", "saved") and message[-1] is not None:
            self._spent_s += self._save_s
        self._settle()
        self.messages.append(message)

    def receive(self, wait: bool) -> Order | Nothing:
        self._settle()
        while wait and not self.orders and not self._is_gone:
            self.due = None
            self._stand()
        if self._is_gone:
            raise EOFError("the process is gone")
        return self.orders.popleft() if self.orders else NOTHING

    def _settle(self) -> None:
        """Stand still until the time that it spent has passed."""
        if self._is_gone:
            raise EOFError("the process is gone")
        if self._spent_s > 0:
            self.due = self.clock()
            self._spent_s = 0.0
            self._stand()
            if self._is_gone:
                raise EOFError("the process is gone")

    def _stand(self) -> None:
        self._stands.release()
        self._goes.acquire()

    def _run(self) -> None:
        from overtone.worker.server.run_trial import run_trial

        try:
            run_trial(self, self._job, self._start, virtual=self.clock)
        finally:
            self.has_ended, self.due = True, None
            self._stands.release()
