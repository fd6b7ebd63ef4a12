"""Estimate of a run's remaining time, with early stopping taken into account.

The lengths of trials in iterations are estimated by the product-limit estimator (Kaplan and Meier 1958):
trials that still run count as longer than they are now, so that early losers do not make all trials look
short. A running trial counts as the share of its expected length that it has done, and the trials that have
not started take the iterations per trial done so far. The remaining iterations are divided by the iterations
per second so far. A running trial that likely continues alone bounds the estimate from below.

`benchmarks/remaining_time.py` compares this with the time per ended trial, over recorded curves and five
schedulers. With 4 workers, both are about equally far off; with 32, this rule is half as far off from the
middle of a run on. Before that it is often too short: what is known then are the trials that ended early.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

FIRST_SHARE = 0.1
"""Share of the run that must be over before an estimate is shown; from then on it stays."""

_MEMORY = 0.1
"""Estimates are averaged over this share of the elapsed time."""

_MOST_CHANGE = 5.0
"""The largest relative change of the estimated end, per relative change of the elapsed time."""

_MOST_LENGTHS = 2000


class LengthModel:
    """The distribution of trials' lengths, in iterations.

    A trial that is longer than all known ones is expected to continue for the iterations per ended trial.

    Args:
        ended: The number of ended trials by length; in any order.
        unended: The number of trials that may continue, by their length so far.
        longest: The largest possible length, such as `max_t`; None if unknown.
    """

    def __init__(
        self, ended: Mapping[int, float], unended: Mapping[int, float], longest: int | None = None
    ) -> None:
        known = max([*ended, *unended, 0])
        n_ended, n_unended = sum(ended.values()), sum(unended.values())
        n_iterations = sum(length * n for part in (ended, unended) for length, n in part.items())
        possible = [] if longest is None else [max(longest - known, 0.0)]
        self._tail = min([*possible, n_iterations / n_ended] if n_ended else possible, default=0.0)
        self._known = known
        self._ends = sorted(ended)
        share = 1.0
        self._shares = [share]  # of the trials that are longer than each of `_ends`, after the first
        n_at_risk, shorter = n_ended + n_unended, sorted(unended, reverse=True)
        for length in self._ends:
            while shorter and shorter[-1] < length:
                n_at_risk -= unended[shorter.pop()]
            share *= max(1 - ended[length] / n_at_risk, 0.0) if n_at_risk > 0 else 0.0
            n_at_risk -= ended[length]
            self._shares.append(share)
        self._edges = [0, *self._ends, known]
        areas = [(self._edges[i + 1] - self._edges[i]) * one for i, one in enumerate(self._shares)]
        areas.append(share * self._tail)
        self._areas = list(accumulate(reversed(areas)))[::-1]  # the expected length beyond each edge

    def expected_rest(self, length: int = 0) -> float:
        """Return the expected iterations that a trial of this length has still to do."""
        i = bisect_left(self._ends, length + 1)  # it is longer than the ends before
        share = self._shares[i]
        if share <= 0 or length >= self._known:
            return self._tail
        beyond = self._areas[i + 1] + (self._edges[i + 1] - length) * share
        return beyond / share

    def median_rest(self, length: int) -> float:
        """Return the iterations that a trial of this length does still with a probability of one half."""
        i = bisect_left(self._ends, length + 1)
        share = self._shares[i]
        if share <= 0 or length >= self._known:
            return self._tail
        half = bisect_left(self._shares, -share / 2, lo=i, key=float.__neg__)
        return (
            self._ends[half - 1] - length if half < len(self._shares) else self._known - length + self._tail
        )


class RemainingTime:
    """Estimates when a run is over; smoothed, so that a single trial does not make it jump.

    Attributes:
        lengths: The lengths of ended trials, oldest first.
        n_pauses, n_resumed: How often a trial was paused, and how often a paused one continued.
    """

    def __init__(self) -> None:
        self.lengths: deque[int] = deque(maxlen=_MOST_LENGTHS)
        self.n_pauses = 0
        self.n_resumed = 0
        self._end: float | None = None
        self._asked = 0.0
        self._is_shown = False

    def seconds(
        self, now: float, n_results: int, n_ended: int, n_unstarted: int, paused: Iterable[int],
        running: Sequence[tuple[int, float]], longest: int | None = None, budget_s: float | None = None,
    ) -> float | None:  # fmt: skip
        """Return the estimated seconds that are left; None during the first tenth, or if nothing is known.

        Args:
            now: Seconds that the run has taken.
            n_results: Results so far.
            n_ended: Trials that have ended.
            n_unstarted: Trials that have not started.
            paused: Lengths of trials without a process that may continue.
            running: Length so far and training time in seconds of each running trial.
            longest: The largest possible length; None if unknown.
            budget_s: The time budget of the run; None for no limit.
        """
        if now <= 0 or not n_results or not (self.lengths or longest):
            return None
        ended, unended = Counter(self.lengths), Counter(length for length, _ in running)
        waiting = Counter(paused)
        if 2 * self.n_resumed >= self.n_pauses:  # paused trials continue
            unended.update(waiting)
        else:
            ended.update(waiting)
            n_ended += waiting.total()
        model = LengthModel(ended, unended, longest)
        rests = {length: model.expected_rest(length) for length in unended}
        n_done = n_ended + sum(
            n * length / (length + rests[length]) for length, n in unended.items() if length
        )
        work = sum(n * rests[length] for length, n in unended.items())
        work += n_unstarted * (n_results / n_done if n_done else model.expected_rest())
        alone = max(
            (model.median_rest(length) * age / length for length, age in running if length), default=0.0
        )
        end = now + max(work * now / n_results, alone)
        if budget_s is not None:
            end = min(end, max(budget_s, now))
        self._end, self._asked = max(self._smoothed(end, now), now), now
        self._is_shown = self._is_shown or now >= FIRST_SHARE * self._end
        return self._end - now if self._is_shown else None

    def _smoothed(self, end: float, now: float) -> float:
        if self._end is None or not self._asked:
            return end
        growth = now / self._asked
        most: float = growth**_MOST_CHANGE
        weight: float = 1 - growth ** (-1 / _MEMORY)
        end = self._end + (end - self._end) * weight
        return min(max(end, self._end / most), self._end * most)
