"""A trial that smaller ones keep passing gets its turn, and the machine stays full."""

from __future__ import annotations

from collections import deque

from overtone.core.ledger import Ledger
from overtone.core.queue import Queue
from overtone.core.resources import Resources

RESERVED_SHARE = 0.1
"""The part of the time in which there may be a reservation, over the whole run."""


class Fairness:
    """Gives the first pending trial a reservation once it was passed for too long.

    A start passes the first pending trial only if the started trial has another shape and took a
    resource that the pending trial needs. Trials of one shape fit or do not fit together, so their
    order is the scheduler's alone.

    Too long is the median length of the trials that ended lately: long enough for the
    machine to have emptied by itself, short enough that nobody waits for the whole search.

    While resources are kept for one trial, some of them idle, until the last of those that
    hold them ends; and where lengths differ by a thousand times, that is long. So a
    reservation that lasted d seconds is the last one for 9 d seconds (`RESERVED_SHARE`).
    """

    def __init__(self, queue: Queue, ledger: Ledger) -> None:
        self._queue = queue
        self._ledger = ledger
        self._lengths: deque[float] = deque(maxlen=101)
        self._passed: tuple[str, float] | None = None
        self._reserved: tuple[str, float] | None = None
        self._none_before = 0.0

    def on_length(self, length_s: float) -> None:
        """A trial gave its resources back after so long."""
        self._lengths.append(length_s)

    def on_start(self, resources: Resources, time: float) -> None:
        """A trial with these resources was started: was the first in line passed over?"""
        owner = self._ledger.reserved_for
        if self._reserved is not None and self._reserved[0] != owner:
            lasted = time - self._reserved[1]
            self._none_before = time + lasted * (1 / RESERVED_SHARE - 1)
            self._reserved = None
        if owner is not None:
            return
        head = self._queue.head()
        if self._passed is None and (head is None or not _competes(resources, head.resources)):
            return  # nobody was passed before, and nobody is now
        if head is None or self._queue.fits(head):
            self._passed = None
            return
        if not _competes(resources, head.resources):
            return
        if self._passed is None or self._passed[0] != head.id:
            self._passed = (head.id, time)
        elif time >= self._none_before and self._is_too_long(time - self._passed[1]):
            self._ledger.reserve(head.id, head.resources)
            self._passed = None
            if self._ledger.reserved_for is not None:
                self._reserved = (head.id, time)

    def _is_too_long(self, passed_s: float) -> bool:
        return bool(self._lengths) and passed_s >= sorted(self._lengths)[len(self._lengths) // 2]


def _competes(started: Resources, waiting: Resources) -> bool:
    """Return whether a started trial has another shape than a waiting one, and took what that one needs."""
    if started is waiting or started == waiting:
        return False
    return not started.total().keys().isdisjoint(waiting.total())
