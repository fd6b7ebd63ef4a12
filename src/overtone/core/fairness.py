"""Reservations for a pending trial that smaller trials keep passing, without idling the machine."""

from __future__ import annotations

from collections import deque

from overtone.core.ledger import Ledger
from overtone.core.queue import Queue
from overtone.core.resources import Resources

RESERVED_SHARE = 0.1
"""Largest share of the run during which a reservation may exist."""


class Fairness:
    """Gives the first pending trial a reservation once it was passed for too long.

    A start passes the first pending trial only if the started trial has another shape and took a
    resource that the pending trial needs. Trials of one shape fit or do not fit together, so their
    order is the scheduler's alone.

    "Too long" is the median length of the trials that ended lately: long enough for the running
    trials to end, short enough that no trial waits for the whole search.

    While resources are reserved for a trial, some of them idle until the last trial that holds
    the others ends. If lengths differ by a factor of a thousand, that is long. So after a
    reservation of d seconds, the next one follows 9 d seconds later at the earliest (`RESERVED_SHARE`).
    """

    def __init__(self, queue: Queue, ledger: Ledger) -> None:
        self._queue = queue
        self._ledger = ledger
        self._lengths: deque[float] = deque(maxlen=101)
        self._passed: tuple[str, float] | None = None
        self._reserved: tuple[str, float] | None = None
        self._none_before = 0.0

    def on_length(self, length_s: float) -> None:
        """Record the length of a trial that released its resources."""
        self._lengths.append(length_s)

    def on_start(self, resources: Resources, time: float) -> None:
        """Record the start of a trial, and whether it passed the first pending trial."""
        owner = self._ledger.reserved_for
        if self._reserved is not None and self._reserved[0] != owner:
            lasted = time - self._reserved[1]
            self._none_before = time + lasted * (1 / RESERVED_SHARE - 1)
            self._reserved = None
        if owner is not None:
            return
        head = self._queue.head()
        if self._passed is None and (head is None or not _competes(resources, head.resources)):
            return  # No trial was passed before, and none is passed now.
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
    """Return whether a started trial has another shape and took a resource that the waiting trial needs."""
    if started is waiting or started == waiting:
        return False
    return not started.total().keys().isdisjoint(waiting.total())
