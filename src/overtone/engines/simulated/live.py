"""An ordinary trainable in virtual time: its code runs in a separate thread, one trial at a time.

The threads of the engine and of the trials take turns: only one of them runs at any moment. So
the result does not depend on how the machine schedules threads. Computation takes no virtual
time; `tune.simulate_time(seconds)` does.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.worker.message_codec import Message
from overtone.worker.protocol import NOTHING, Channel, Nothing, Order
from overtone.worker.session import current
from overtone.worker.session.session import Session

UNWIND_S = 10.0
"""Maximum real time for the thread of a trial to unwind once its process is gone."""


class LiveTrial(Channel):
    """One trial's thread, and its channel to the engine.

    Args:
        job: The Job of the run.
        start: The Start of the trial.
        now: The engine's clock.
        slowness: Factor for the simulated durations of the trial.
        save_s: Duration of saving a checkpoint.

    Attributes:
        messages: New messages of the trial for the engine.
        orders: Orders that the trial has not received yet.
        due: Time at which the trial continues; None if it waits for an order or has ended.
        has_ended: Whether the thread is done.
    """

    why_no_ranks = (
        "the simulated engine makes no ranks: a gang is its bundles there. Simulate how long the training "
        "takes by tune.simulate_time(seconds) instead, or use another engine"
    )

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
        """Run the trial until it waits for an order or for virtual time, or ends."""
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
        """Unwind the thread of a trial whose process is gone, and drop its messages."""
        self._is_gone = True
        self.orders.clear()
        if self._thread is not None:
            self.go_on()
        self.messages.clear()

    # --- the trial's side ------------------------------------------------------------------

    def clock(self) -> float:
        """Return the virtual time for the trial, including time that it spent since it last waited."""
        return self._now() + self._spent_s

    def spend(self, seconds: float) -> None:
        """Add simulated training time, multiplied by the slowness."""
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
        """Wait until the virtual time that the trial spent has passed."""
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
