"""Trials that the caller's own code runs: asked for one by one, from any thread.

The loop runs in a thread of its own, and callers wait for it. A slot is free for each caller that waits
in `ask`, and for no other trial: so a config is suggested when it is asked for, and not before.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.protocols import Capabilities, Engine, Pump
from overtone.errors import UsageError
from overtone.worker.message_codec import Message
from overtone.worker.protocol import NOTHING, Channel, Nothing, Order, event

NODE = "local"


class Asked(Engine):
    """Hands trials out to the caller.

    Attributes:
        job: The experiment; set by `open`.
        is_closed: Whether the run has ended.
        thread: The id of the loop's thread, which no caller may block; 0 before it begins.
    """

    capabilities = Capabilities(is_elastic=True, pauses=False, calls_pump=True)
    job: Job

    def __init__(self) -> None:
        self.is_closed, self.thread = False, 0
        self._changed = threading.Condition(threading.RLock())
        self._began = time.monotonic()
        self._events: list[m.Event] = []
        self._wakes: list[float] = []
        self._unclaimed: deque[TrialLine] = deque()
        self._lines: dict[str, TrialLine] = {}
        self._n_asking = self._n_slots = 0
        self._n_taken = self._n_handled = 0  # Batches of events.
        self._is_begun = self._is_woken = self._is_leaving = False
        self._failure: Exception | None = None
        self._pump: Pump | None = None

    # --- the loop's thread -------------------------------------------------------------

    def attach(self, pump: Pump) -> None:
        self._pump = pump

    def open(self, job: Job) -> None:
        self.job, self.thread = job, threading.get_ident()
        self._began = time.monotonic() - job.elapsed_s
        with self._changed:
            self._events.insert(0, m.CapacityChanged(self.now(), {}))

    def now(self) -> float:
        return time.monotonic() - self._began

    def submit(self, commands: Sequence[m.Command]) -> None:
        with self._changed:
            for command in commands:
                if isinstance(command, m.Start):
                    line = self._lines[command.trial_id] = TrialLine(self, command)
                    self._unclaimed.append(line)
                elif isinstance(command, (m.Proceed, m.Halt)):
                    line = self._lines.get(command.trial_id)  # type: ignore[assignment]
                    if line is not None and line.start.attempt == command.attempt:
                        self._order(line, command)
                elif isinstance(command, m.Wake):
                    heapq.heappush(self._wakes, command.time)
                elif isinstance(command, m.Discard):
                    if self.job.store is not None:
                        self.job.store.delete(command.uri)
                    self._events.append(m.Discarded(self.now(), command.uri))
            self._changed.notify_all()

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        with self._changed:
            if self._failure is not None:
                raise self._failure
            if self._pump is not None and not self._is_begun:
                self._is_begun = True
                self._changed.notify_all()
            if not (self._events or self._is_woken or self._is_due()):
                due_s = self._wakes[0] - self.now() if self._wakes else None
                self._changed.wait(min((one for one in (timeout_s, due_s) if one is not None), default=None))
            self._is_woken = False
            while self._is_due():
                heapq.heappop(self._wakes)
                self._events.append(m.Tick(self.now()))
            events, self._events = self._events, []
            self._n_taken += bool(events)
        if self._pump is None:
            return events
        if events:
            self._pump(events)  # If it raises, callers wait for the end of the run, which has the error.
        with self._changed:
            self._n_handled = self._n_taken
            self._changed.notify_all()
        return ()

    def close(self) -> None:
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def wake(self) -> None:
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()

    def describe(self) -> str:
        return "code that asks for the trials and runs them"

    def _order(self, line: TrialLine, order: m.Proceed | m.Halt) -> None:
        line.orders.append(order)
        if not isinstance(order, m.Halt):
            return
        line.is_halted = True
        if order.park:
            self._failure = UsageError(
                f"the scheduler paused trial {line.start.trial_id}, which its caller runs: it cannot be "
                'paused. Choose a scheduler that only stops trials, such as "asha" or "median"'
            )
        elif self._is_leaving or line in self._unclaimed:
            self._drop(line)

    def _drop(self, line: TrialLine) -> None:
        """End a halted trial that no caller will end."""
        if line in self._unclaimed:
            self._unclaimed.remove(line)
        self._ended(line, [line.end_message("halted")])

    def _is_due(self) -> bool:
        return bool(self._wakes) and self._wakes[0] <= self.now()

    # --- any thread ----------------------------------------------------------------------

    def await_begin(self, is_over: Callable[[], bool]) -> None:
        """Wait until the run takes events, or is over."""
        with self._changed:
            while not (self._is_begun or self.is_closed or is_over()):
                self._changed.wait(0.1)

    def ask(self, timeout_s: float) -> TrialLine | None:
        """Return the next trial; None if no trial is free, or the run is over.

        Args:
            timeout_s: Seconds to wait for a trial that a limit or the searcher holds back.
        """
        give_up_at = time.monotonic() + timeout_s
        with self._changed:
            self._n_asking += 1
            self._resize()
            self._changed.notify_all()
            try:
                while not self._unclaimed and not self.is_closed:
                    left_s = give_up_at - time.monotonic()
                    if self._events or self._n_handled < self._n_taken:  # The loop is at work.
                        self._changed.wait()
                    elif left_s > 0:
                        self._changed.wait(min(left_s, threading.TIMEOUT_MAX))
                    else:
                        return None
                return self._unclaimed.popleft() if self._unclaimed and not self.is_closed else None
            finally:
                self._n_asking -= 1
                self._resize()

    def put(self, message: Message) -> int:
        """Hand a trial's message to the loop; return the ticket for `await_handled`.

        Raises:
            EOFError: The run is over.
        """
        with self._changed:
            if self.is_closed:
                raise EOFError("the run is over")
            self._events.append(event(message, self.now(), NODE))
            if message[0] != "started":  # Nobody waits for it: the next message comes with it.
                self._changed.notify_all()
            return self._n_taken + 1

    def await_handled(self, ticket: int) -> bool:
        """Wait until events are in the journal.

        Returns:
            False if the run ended before it took them. If it ended with an error, they may be lost.
        """
        with self._changed:
            self._changed.notify_all()
            while self._n_handled < ticket and not self.is_closed:
                self._changed.wait()
            return self._n_taken >= ticket

    def end(self, line: TrialLine, messages: Sequence[Message], reason: str = "") -> int:
        """Hand over the last messages of a trial, as `put` does.

        Args:
            reason: Why the caller stops the trial early; "" if it does not.

        Raises:
            EOFError: The run is over, or it ended the trial.
        """
        with self._changed:
            if self.is_closed or self._lines.get(line.start.trial_id) is not line:
                raise EOFError("the run is over")
            self._ended(line, messages, reason)
            self._changed.notify_all()
            return self._n_taken + 1

    def leave(self) -> None:
        """From now on, end each trial that is halted: its caller has left."""
        with self._changed:
            self._is_leaving = True
            for line in [one for one in self._lines.values() if one.is_halted]:
                self._drop(line)

    def order(self, line: TrialLine, wait: bool) -> Order | Nothing:
        """Return the next order for a trial.

        Raises:
            EOFError: The run is over.
        """
        with self._changed:
            while not line.orders:
                if not wait:
                    return NOTHING
                if self.is_closed:
                    raise EOFError("the run is over")
                self._changed.wait()
            return line.orders.popleft()

    def _ended(self, line: TrialLine, messages: Sequence[Message], reason: str = "") -> None:
        """Take the slot of a trial away before its end, which would let the next trial start there."""
        del self._lines[line.start.trial_id]
        *others, last = messages
        self._events += [event(one, self.now(), NODE) for one in others]
        self._resize()
        if reason:
            self._events.append(m.Requested(self.now(), "stop_trial", line.start.trial_id, reason))
        self._events.append(event(last, self.now(), NODE))

    def _resize(self) -> None:
        """Announce a slot for each trial that runs, and for each caller that waits."""
        n_slots = len(self._lines) - len(self._unclaimed) + max(self._n_asking, len(self._unclaimed))
        if n_slots != self._n_slots and not self.is_closed:
            self._n_slots = n_slots
            self._events.append(
                m.CapacityChanged(self.now(), {NODE: {"cpu": float(n_slots)}} if n_slots else {})
            )
            self._changed.notify_all()


class TrialLine(Channel):
    """The channel between a trial in the caller's code and the engine.

    Attributes:
        start: What was asked of the engine.
        orders: Orders that the trial has not taken yet.
        is_halted: Whether the trial was told to end.
        is_last: Whether the trial ends after its next result: messages wait for `end`, and no order comes.
    """

    def __init__(self, engine: Asked, start: m.Start) -> None:
        self.start = start
        self.orders: deque[m.Proceed | m.Halt] = deque()
        self.is_halted = self.is_last = False
        self._engine = engine
        self._held: list[Message] = []
        self._ticket = 0

    def send(self, message: Message) -> None:
        if self.is_last:
            self._held.append(message)
        else:
            self._ticket = self._engine.put(message)

    def receive(self, wait: bool) -> Order | Nothing:
        if self.is_last and not self.orders:
            return m.Proceed(self.start.trial_id, self.start.attempt, m.NEVER) if wait else NOTHING
        return self._engine.order(self, wait)

    def await_handled(self) -> bool:
        """Wait until all messages are in the journal; see `Asked.await_handled`."""
        return self._engine.await_handled(self._ticket)

    def take_back(self) -> None:
        """Forget the messages since `is_last`: the trial does not end."""
        self._held.clear()
        self.is_last = False

    def end(self, cause: m.Cause, error: str = "", reason: str = "") -> bool:
        """End the trial, and wait as `await_handled` does.

        Raises:
            EOFError: The run is over.
        """
        self._ticket = self._engine.end(self, [*self._held, self.end_message(cause, error)], reason)
        return self.await_handled()

    def end_message(self, cause: m.Cause, error: str = "") -> Message:
        """Return the message of the trial's end."""
        return ("ended", self.start.trial_id, self.start.attempt, cause, error, "")
