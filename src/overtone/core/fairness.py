"""A trial that smaller ones keep passing gets its turn."""

from __future__ import annotations

from collections import deque

from overtone.core.ledger import Ledger
from overtone.core.queue import Queue


class Fairness:
    """Gives the first pending trial a reservation once it was passed for too long.

    Too long is the median length of the trials that ended lately: long enough for the
    machine to have emptied by itself, short enough that nobody waits for the whole search.
    """

    def __init__(self, queue: Queue, ledger: Ledger) -> None:
        self._queue = queue
        self._ledger = ledger
        self._lengths: deque[float] = deque(maxlen=101)
        self._passed: tuple[str, float] | None = None

    def on_length(self, length_s: float) -> None:
        """A trial gave its resources back after so long."""
        self._lengths.append(length_s)

    def on_start(self, time: float) -> None:
        """A trial was started: was the first in line passed over?"""
        if self._ledger.reserved_for is not None:
            return
        head = self._queue.head()
        if head is None or self._queue.fits(head):
            self._passed = None
            return
        if self._passed is None or self._passed[0] != head.id:
            self._passed = (head.id, time)
        elif self._lengths and time - self._passed[1] >= sorted(self._lengths)[len(self._lengths) // 2]:
            self._ledger.reserve(head.id, head.resources)
            self._passed = None
