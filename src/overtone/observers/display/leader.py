"""The trial whose last value of the metric is best, as `analysis.best_trial` ranks trials."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush, nsmallest
from math import inf
from typing import Any

from overtone.core.table import Row
from overtone.core.types import Metrics

Standing = tuple[float, int, Row, float, int]
"""A trial's place: rank (lower is better), index, row, last value, and the iteration of that value."""


class Leader:
    """Keeps the last value of each trial, and finds the best one without a pass over all trials.

    A result only replaces an entry of `newest`: it is compared when somebody asks for the best trial, or
    when its trial leaves its process. `best` compares the trials with a process if the leader became worse.

    Args:
        score: Returns the score of a value and the metrics of its result, where higher is better; NaN or
            infinite if the trial may not win.

    Attributes:
        newest: The last values that were not compared yet, as (row, value, iteration, metrics), by trial.
    """

    def __init__(self, score: Callable[[Any, Metrics], float]) -> None:
        self.newest: dict[str, tuple[Row, Any, int, Metrics]] = {}
        self._score = score
        self._running: dict[str, Standing] = {}
        self._waiting: dict[str, Standing] = {}  # trials without a process that may continue
        self._heap: list[tuple[float, int, str]] = []  # of `_waiting`; the entries of others are skipped
        self._ended: Standing | None = None  # the best of the trials that will report nothing more
        self._best: Standing | None = None
        self._is_stale = False

    def place(self, row: Row) -> None:
        """Take note that a trial has a process."""
        standing = self._waiting.pop(row.id, None)
        if standing is not None:
            self._running[row.id] = standing

    def wait(self, row: Row) -> None:
        """Take note that a trial has no process and may continue."""
        self._compare(row)
        standing = self._running.pop(row.id, None)
        if standing is not None:
            self._waiting[row.id] = standing
            heappush(self._heap, (*standing[:2], row.id))

    def end(self, row: Row) -> float:
        """Take note that a trial reports nothing more, and return its rank; infinite if it may not win."""
        self._compare(row)
        standing = self._running.pop(row.id, None) or self._waiting.pop(row.id, None)
        if standing is None:
            return inf
        if self._ended is None or standing[:2] < self._ended[:2]:
            self._ended = standing
        return standing[0]

    def best_waiting(self, n: int) -> list[Standing]:
        """Return the best of the trials that are paused or wait again, at most `n`, best first."""
        return nsmallest(n, (one for one in self._waiting.values() if not one[2].is_final), key=_order)

    @property
    def best(self) -> Standing | None:
        """The best standing, of the oldest trial among equals; None if no trial may win."""
        for row, *_ in list(self.newest.values()):
            self._compare(row)
        if self._is_stale:
            self._is_stale = False
            found = [*self._running.values(), *filter(None, (self._ended, self._first_waiting()))]
            self._best = min(found, key=_order, default=None)
        return self._best if self._best is not None and self._best[0] < inf else None

    def _compare(self, row: Row) -> None:
        """Compare a trial's newest value, if it is new."""
        found = self.newest.pop(row.id, None)
        if found is None:
            return
        _, value, t, metrics = found
        score = self._score(value, metrics)
        rank = -score if -inf < score < inf else inf
        self._running[row.id] = standing = (rank, row.index, row, value, t)
        best = self._best
        if best is None or rank < best[0] or (rank == best[0] and row.index < best[1]):
            self._best = standing
        elif best[2] is row:
            self._is_stale = self._is_stale or rank > best[0]
            self._best = standing

    def _first_waiting(self) -> Standing | None:
        while self._heap:
            rank, _, trial_id = self._heap[0]
            standing = self._waiting.get(trial_id)
            if standing is not None and standing[0] == rank:
                return standing
            heappop(self._heap)
        return None


def _order(standing: Standing) -> tuple[float, int]:
    return standing[:2]
