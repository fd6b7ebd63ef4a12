"""MOASHA: asynchronous successive halving for several objectives (Schmucker et al. 2021,
"Multi-objective Asynchronous Successive Halving", arXiv 2106.12639).

At each rung trials are sorted into fronts: no trial dominates those of the first front, only trials
of the first front dominate those of the second, and so on. Within a front an epsilon net ranks them:
first the best by the first objective, then always the trial that is farthest from all before it.
A trial that is not among the best 1/reduction_factor when it reaches a rung ends.

Deviations: the stopping rule, where the paper pauses and promotes: of n with itself, a trial goes
on where at most n / reduction_factor rank before it, and the first always does. Distances are
Euclidean, in the metrics' own units. A trial with a NaN in any objective is the worst, and ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.messages import NEVER
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.ladders import BracketDraw, Ladders
from overtone.schedulers.rungs import Rung

Scores = tuple[float, ...]


class FrontRung(Rung):
    """A rung with several objectives."""

    def __init__(self, milestone: float) -> None:
        super().__init__(milestone)
        self._fronts: list[list[tuple[int, Scores]]] = []  # each by order of arrival

    def count(self, result: Result) -> None:
        self.enter(result.scores)

    def enter(self, scores: Scores, limit: float = 0.0) -> int:
        """Take note of a trial; how many rank before it: exactly, if a front holds places on both sides of
        `limit`, else at least so many as are in better fronts."""  # fmt: skip
        self.add(scores[0])
        if min(scores) == WORST:
            return len(self) - 1
        k, mine = self._front_of(scores), (len(self), scores)
        self._insert(k, mine)
        names, points = zip(*self._fronts[k], strict=True)
        before = sum(map(len, self._fronts[:k]))
        if not before <= limit < before + len(points) - 1:
            return before
        return before + spread(points).index(names.index(mine[0]))

    def _insert(self, k: int, entry: tuple[int, Scores]) -> None:
        """Put an entry into front k; entries that it dominates move to the next front, and so on."""
        moved = [entry]
        while moved:
            if k == len(self._fronts):
                self._fronts.append([])
            beaten = [one for one in self._fronts[k] if any(dominates(other, one[1]) for _, other in moved)]
            out = {order for order, _ in beaten}
            self._fronts[k] = sorted([*(one for one in self._fronts[k] if one[0] not in out), *moved])
            moved, k = beaten, k + 1

    def _front_of(self, scores: Scores) -> int:
        """Return the index of the first front in which no entry dominates `scores`."""
        low, high = 0, len(self._fronts)
        while low < high:
            middle = (low + high) // 2
            if any(dominates(other, scores) for _, other in self._fronts[middle]):
                low = middle + 1
            else:
                high = middle
        return low


@checked
class MOASHA(TrialScheduler):
    """Stops a trial at a rung unless it is among the best there, by all objectives.

    Args:
        metric, mode: Lists of metrics and of their modes; the first metric is the main objective.
        max_t: Maximum time per trial, in units of `time_attr`.
        grace_period: The first rung.
        reduction_factor: The share of trials that continue is its inverse.
        brackets: Number of brackets. Trials are assigned at random, more often to earlier ones.
        stop_last_trials: Whether a trial ends at max_t.
    """

    def __init__(
        self, time_attr: str = "training_iteration", metric: Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None, max_t: int = 100, grace_period: int = 1,
        reduction_factor: float = 3, brackets: int = 1, stop_last_trials: bool = True,
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode = time_attr, metric, mode  # type: ignore[assignment]
        self.bracket_draw = BracketDraw("moasha", grace_period, max_t, reduction_factor, brackets)
        self._end = max_t if stop_last_trials else NEVER

    def on_start(self, view: View) -> None:
        self._ladders = Ladders(view, self.bracket_draw, FrontRung)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t >= self._end:
            return self._ladders.finish(trial, result.t, self._end)
        rung = self._ladders.arrive(trial, result.t)
        if rung is None:
            return CONTINUE
        limit = (len(rung) + 1) / self.bracket_draw.factor
        before = rung.enter(result.scores, limit)
        if min(result.scores) > WORST and before <= limit:
            return CONTINUE
        bracket = self._ladders.bracket(trial.id)
        return Stop(Why("moasha", result.t, rung.milestone, rank=before + 1, of=len(rung), bracket=bracket))

    def on_trial_add(self, trial: Trial) -> None:
        self._ladders.add(trial)

    def on_trial_end(self, trial: Trial) -> None:
        self._ladders.end(trial)

    def next_decision(self, trial: Trial) -> float:
        return min(self._ladders.following(trial), self._end)

    def describe(self) -> str:
        return self._ladders.describe("MOASHA")


def dominates(one: Scores, other: Scores) -> bool:
    """Return whether `one` is better in some objective and worse in none."""
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def spread(points: Sequence[Scores]) -> list[int]:
    """Return the indices of the points in the order of an epsilon net (Clarkson 2006).

    >>> spread([(0.0, 1.0), (0.1, 0.9), (1.0, 0.0)])
    [2, 0, 1]
    """
    left = list(range(len(points)))
    distance = [math.inf] * len(points)
    chosen: list[int] = []
    best = max(left, key=lambda i: points[i][0])
    while True:
        chosen.append(best)
        left.remove(best)
        if not left:
            return chosen
        for i in left:
            distance[i] = min(distance[i], math.dist(points[i], points[best]))
        best = max(left, key=distance.__getitem__)
