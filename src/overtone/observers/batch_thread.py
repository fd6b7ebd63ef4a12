"""Work that a thread does in batches: the loop hands it over, and does not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

PARTING_S = 1.0
"""Extra seconds of an interrupted `wait`: nearly always enough for all waiting items."""

GATHER_S = 0.02
"""From one batch to the next: waking the thread for each item would cost the loop more than the item."""


class Aside(Generic[T]):
    """A thread that calls `work` with batches of the items given to `put`, in order.

    The thread lives from the first item to `wait`.

    Args:
        work: Called in the thread; an exception is raised to the caller of `put` or `wait`.
        name: The thread's name.
        most_waiting: Maximum number of waiting items; `put` blocks beyond it. Half as many items are
            a batch immediately.
        begin_after_s: Seconds in which the first batch gathers.
        every_s: Seconds in which each other batch gathers.
    """

    def __init__(
        self,
        work: Callable[[list[T]], None],
        name: str,
        most_waiting: int,
        begin_after_s: float = GATHER_S,
        every_s: float = GATHER_S,
    ) -> None:
        self._work = work
        self._name = name
        self._most_waiting = most_waiting
        self._begin_after_s = begin_after_s
        self._every_s = every_s
        self._changed = threading.Condition()
        self._is_ending = False
        self._has_ended = False
        self._waiting: list[T] = []
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def put(self, items: Sequence[T]) -> None:
        """Hand over; waits only while too much waits already.

        Raises:
            Exception: That of the work which failed before; nothing is done from then on.
        """
        with self._changed:
            while len(self._waiting) >= self._most_waiting and self._error is None:
                self._changed.wait()
            if self._error is not None:
                raise self._error
            was_none, was_much = not self._waiting, self._is_much()
            self._waiting += items
            if self._thread is None:
                self._is_ending = self._has_ended = False
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            elif was_none or (self._is_much() and not was_much):
                self._changed.notify_all()

    def wait(self) -> None:
        """Return when all is done. Twice is safe.

        Raises:
            Exception: That of the work.
        """
        if self._thread is not None:
            try:
                with self._changed:
                    self._is_ending = True
                    self._changed.notify_all()
                self._thread.join()
            except KeyboardInterrupt:  # the interpreter may be about to end, and the thread with it
                with self._changed:  # Python takes a thread for ended whose join was interrupted
                    self._changed.wait_for(lambda: self._has_ended, PARTING_S)
                raise
            self._thread = None
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._work_off()
        finally:
            with self._changed:
                self._has_ended = True
                self._changed.notify_all()

    def _work_off(self) -> None:
        self._gather(self._begin_after_s)
        while batch := self._next():
            try:
                self._work(batch)
            except Exception as error:
                with self._changed:
                    self._error, self._waiting = error, []
                    self._changed.notify_all()
                return
            self._gather(self._every_s)

    def _gather(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_ending or self._is_much(), seconds)

    def _next(self) -> list[T]:
        """Return the waiting items; an empty list once no more items will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_ending)
            batch, self._waiting = self._waiting, []
            self._changed.notify_all()
        return batch

    def _is_much(self) -> bool:
        return len(self._waiting) * 2 >= self._most_waiting
