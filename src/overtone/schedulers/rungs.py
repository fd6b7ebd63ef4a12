"""Rungs of the halving schedulers: their milestones, the scores at each, and promotions."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from math import isfinite

from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result
from overtone.schedulers.ordered import Ordered


def milestones(first: float, last: float, factor: float, skip: int = 0) -> list[float]:
    """Return the rungs first * factor^k < last, ascending, without the lowest `skip`.

    By repeated multiplication, which is exact for whole numbers: no logarithm loses 3^5.
    `last` itself is not among them: there is nothing to decide.
    """
    rungs, rung = [], first * factor**skip
    while rung < last:
        rungs.append(rung)
        rung *= factor
    return rungs


def first_pending(trials: View, is_held: Callable[[Trial], bool]) -> Trial | None:
    """Return the first pending trial that fits now and is not held (it failed while it was pausing)."""
    for trial in trials.runnable():
        if trial.status is not Status.PENDING:
            return None
        if not is_held(trial):
            return trial
    return None


class Rung:
    """The ranked scores of trials that reached a milestone, and the trials that wait there.

    >>> rung = Rung(3)
    >>> [rung.add(score, name) for name, score in zip("abcd", (0.5, 0.9, 0.75, 0.9))]
    [1, 1, 2, 2]
    >>> list(rung.ready(2)), rung.cutoff(2)
    (['b', 'd'], 0.825)

    Attributes:
        milestone: Its t, on the scheduler's clock.
    """

    def __init__(self, milestone: float) -> None:
        self.milestone = milestone
        self._scores = Ordered()
        # (score, -number of equal scores before it), the worst first: of equals, who came first ranks higher
        self._waiting: list[tuple[tuple[float, int], str]] = []
        self._key_of: dict[str, tuple[float, int]] = {}

    def __len__(self) -> int:
        return len(self._scores)

    def __contains__(self, trial_id: str) -> bool:
        return trial_id in self._key_of

    def add(self, score: float, waiting: str = "") -> int:
        """Add a score, of the trial `waiting` if it waits here; return its rank, 1 for the best.

        NaN, such as the average of infinite scores of both signs, counts as the worst score.
        """
        score = score if score == score else WORST
        below = self._scores.add(score)
        if waiting:
            key = (score, below + 1 - self._scores.place_after(score))
            self._key_of[waiting] = key
            insort(self._waiting, (key, waiting))
        return len(self._scores) - below

    def count(self, result: Result) -> None:
        """Add the last result of a trial that ended before this rung."""
        self.add(result.score)

    def cutoff(self, factor: float) -> float | None:
        """Return the (1 - 1/factor) quantile of the scores, linearly interpolated; None without scores.

        There is nothing between a finite score and an infinite one: the quantile is the lower of the two.
        """
        last = len(self._scores) - 1
        if last < 0:
            return None
        place = last * (1 - 1 / factor)
        below = int(place)
        low: float = self._scores[below]
        if place == below:
            return low
        gap = self._scores[below + 1] - low
        return low + gap * (place - below) if isfinite(gap) else low

    def ready(self, factor: float) -> Iterator[str]:
        """Yield the waiting trials among the best floor(n / factor) of n arrivals, the best first."""
        for key, trial_id in reversed(self._waiting):
            if self._rank(key) > len(self._scores) // factor:
                return
            yield trial_id

    def leave(self, trial_id: str) -> bool:
        """Remove a waiting trial; return whether it waited here. Its score stays."""
        key = self._key_of.pop(trial_id, None)
        if key is not None:
            del self._waiting[bisect_left(self._waiting, (key, trial_id))]
        return key is not None

    @property
    def n_waiting(self) -> int:
        """The number of waiting trials."""
        return len(self._waiting)

    def waiting(self) -> list[str]:
        """Return the ids of the waiting trials, the worst first."""
        return [trial_id for _, trial_id in self._waiting]

    def _rank(self, key: tuple[float, int]) -> int:
        score, minus_before = key
        return len(self._scores) - self._scores.place_after(score) - minus_before + 1
