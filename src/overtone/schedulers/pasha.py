"""PASHA (Bohdal et al. 2023, "PASHA: Efficient HPO and NAS with Progressive Resource Allocation",
arXiv 2207.06940).

ASHA's promotions, but only up to a top rung, which is low at first: the second. When a trial
reaches the top rung, the trials there are ranked by their values there and at the rung below.
While both rankings agree, the maximum time stays; otherwise the top rises by one rung. Two
trials whose values differ by less than the noise may change places: the noise is the 90th
percentile of the differences between trials of the top rung whose curves crossed twice or more.

Deviations: curves are compared at the reports that both trials have; only pairs that met at the
present top rung count. Without such pairs rankings must be equal. NaN ends a trial.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import isfinite

from overtone.core.decision import CONTINUE, Decision, Pause, Stop
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.ladders import BracketDraw, Ladders
from overtone.schedulers.rungs import Rung

PERCENTILE = 0.9


@checked
class PASHA(TrialScheduler):
    """Promotes trials like ASHA, and raises their maximum time only while that changes their ranking.

    Args:
        max_t: Maximum time per trial, in units of `time_attr`.
        grace_period: The first rung.
        reduction_factor: The share of trials that continue is its inverse.
    """

    pauses = True

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        max_t: int = 100, grace_period: int = 1, reduction_factor: float = 3,
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self._last, self._draw = max_t, BracketDraw("pasha", grace_period, max_t, reduction_factor)

    def on_start(self, view: View) -> None:
        self._ladders = Ladders(view, self._draw, Rung)
        self._levels = [*(rung.milestone for rung in reversed(self._ladders.rungs)), self._last]
        self._k = min(1, len(self._levels) - 1)  # the top's place among the levels
        self._values: dict[float, dict[str, float]] = {level: {} for level in self._levels}
        self._curves: dict[str, dict[float, float]] = {}
        self._gaps: list[float] = []  # between trials whose curves cross, ascending

    @property
    def top(self) -> float:
        """The t up to which trials run now."""
        return self._levels[self._k]

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t >= self._last:
            return self._ladders.finish(trial, result.t, self._last)
        self._curves.setdefault(trial.id, {})[result.t] = result.score
        rung = self._ladders.arrive(trial, result.t)
        if rung is None:
            return CONTINUE
        is_bad = result.score == WORST
        rank = rung.add(result.score, waiting="" if is_bad else trial.id)
        why = Why("pasha", result.t, rung.milestone, rank=rank, of=len(rung))
        if is_bad:
            return Stop(why)
        self._values[rung.milestone][trial.id] = result.score
        if rung.milestone == self.top:
            self._meet(trial.id)
        return Pause(why)

    def _meet(self, trial_id: str) -> None:
        """Handle a trial's arrival at the top rung: update the noise, and raise the top if needed."""
        here, mine = self._values[self.top], self._curves[trial_id]
        lower = self._values[self._levels[self._k - 1]]
        below = {one: lower.get(one, here[one]) for one in here}  # A trial may have skipped that rung.
        for gap in (gap_of_crossing(mine, self._curves.get(one, {})) for one in here if one != trial_id):
            if gap is not None:
                insort(self._gaps, gap)
        noise = self._gaps[int(PERCENTILE * (len(self._gaps) - 1))] if self._gaps else 0.0
        now, before = (sorted(here, key=lambda one: -values[one]) for values in (here, below))
        if any(abs(below[one] - below[other]) > noise for one, other in zip(now, before, strict=True)):
            self._k += 1
            self._gaps.clear()

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        return self._ladders.promoted(trials, below=self.top)

    def review(self, trials: View) -> Iterator[tuple[str, Decision]]:
        return self._ladders.leftover(trials, below=self.top)

    def on_trial_add(self, trial: Trial) -> None:
        self._ladders.add(trial)

    def on_trial_end(self, trial: Trial) -> None:
        self._ladders.end(trial)
        self._curves.pop(trial.id, None)

    def next_decision(self, trial: Trial) -> float:
        return min(self._ladders.following(trial), self._last)

    def describe(self) -> str:
        return self._ladders.describe(f"PASHA up to {self.top:g}")


def gap_of_crossing(one: Mapping[float, float], other: Mapping[float, float]) -> float | None:
    """Return the last difference of two curves that cross at least twice; None for others.

    >>> gap_of_crossing({1: 0.5, 2: 0.6, 3: 0.75}, {1: 0.4, 2: 0.7, 3: 0.5})
    0.25
    """
    differences = [one[t] - other[t] for t in sorted(one.keys() & other.keys())]
    differences = [difference for difference in differences if isfinite(difference)]
    signs = [difference > 0 for difference in differences if difference]
    crossings = sum(a != b for a, b in pairwise(signs))
    return abs(differences[-1]) if crossings >= 2 else None
