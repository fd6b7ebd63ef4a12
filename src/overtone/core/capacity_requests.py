"""Requests to an elastic engine for the capacity that pending trials lack."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.core.ledger import Ledger
from overtone.core.limits import Limits
from overtone.core.messages import NEVER, Want
from overtone.core.queue import Queue
from overtone.core.resources import Resources
from overtone.core.suggestion_quota import Supply

MOST = 64
"""Largest number of trials of one shape in a request. A cluster that grows is asked again."""


class Wants:
    """Emits a `Want` for each shape whose number of waiting trials changed.

    Args:
        queue: The waiting trials.
        supply: The count of suggestions still to come.
        ledger: The placed demands.
    """

    def __init__(self, queue: Queue, supply: Supply, ledger: Ledger) -> None:
        self._queue, self._supply, self._ledger = queue, supply, ledger
        self._told: dict[Resources, int] = {}

    def look(self, limits: Limits, is_closing: bool) -> list[Want]:
        """Return the requests for the engine now, if it is elastic."""
        waiting = {} if is_closing else self._queue.short_of()
        to_come = MOST if self._supply.is_endless else self._supply.remaining
        if to_come and not is_closing:
            shape = next(iter(waiting), None) or self._queue.newest()
            if shape is not None and not self._ledger.fits(shape):
                waiting[shape] = waiting.get(shape, 0) + to_come
        return self.news(waiting, (limits.max_concurrent or NEVER) - len(self._ledger))

    def news(self, waiting: Mapping[Resources, int], room: float) -> list[Want]:
        """Return the changed requests since the last call.

        Args:
            waiting: How many trials of each shape wait for capacity.
            room: Number of further trials that may run at the same time, by `max_concurrent`.
        """
        wanted: dict[Resources, int] = {}
        for shape, count in waiting.items():
            count = int(max(0, min(count, MOST, room)))
            if count:
                wanted[shape] = count
                room -= count
        shapes = [*wanted, *(shape for shape in self._told if shape not in wanted)]
        news = [
            Want(shape, wanted.get(shape, 0))
            for shape in shapes
            if wanted.get(shape, 0) != self._told.get(shape, 0)
        ]
        self._told = wanted
        return news

    def forget(self) -> None:
        """Forget the earlier requests: another engine receives the next ones."""
        self._told = {}
