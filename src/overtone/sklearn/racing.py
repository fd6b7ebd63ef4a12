"""Racing over folds: a candidate is compared with the best one so far on the same folds.

The intensification of ROAR (Hutter, Hoos & Leyton-Brown 2011, "Sequential Model-Based Optimization for
General Algorithm Configuration", procedure 2), with folds as instances. The best candidate so far, the
incumbent, has seen one fold at first, and one more for every few candidates. A challenger sees fold after
fold until it is worse than the incumbent on the same folds, or has seen all of the incumbent's and is better:
then it is the incumbent. So costly candidates are compared before any of them has seen all folds.

Deviations: every challenger sees the same folds in the same order, one at a time rather than 1, 2, 4 and so
on. While it lacks folds of the incumbent's, it goes on although it is worse by half a standard error
(`margin`). The incumbent sees its next fold after `per_fold` candidates rather than after each challenger: if
only a few candidates can be evaluated, further candidates improve the best one more than further folds do. A
challenger that is equal to the incumbent on all of its folds waits until the incumbent has seen the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt

from overtone.core.decision import CONTINUE, Decision, Pause, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why

RULE = "racing"


class FoldRacing(TrialScheduler):
    """Stops a candidate whose mean so far is below that of the best one on the same folds.

    Folds differ more than good candidates do, so that only means over the same folds are compared.

    Args:
        n_folds: Number of folds.
        margin: A candidate goes on while it is this number of standard errors below, until it has seen all
            folds of the incumbent. The standard deviation of differences on a fold is estimated from all
            candidates with two folds or more, and from the first complete candidate's own scores.
        per_fold: The incumbent sees fold k + 1 after k times this number of candidates, or if no candidate
            is left.
    """

    pauses = True

    def __init__(self, n_folds: int, margin: float = 0.5, per_fold: int = 4) -> None:
        self._n_folds, self._margin, self._per_fold = n_folds, margin, per_fold

    def on_start(self, view: View) -> None:
        self._means: dict[str, list[float]] = {}
        self._incumbent = ""
        self._best: list[float] = []
        self._replaced: list[str] = []
        self._equal: list[str] = []  # wait for a further fold of the incumbent
        self._n_ended = 0
        self._is_any_complete = False
        self._squares, self._freedom = 0.0, 0

    def on_result(self, trial: Trial, result: Result) -> Decision:
        t = int(result.t)
        means = self._means.setdefault(trial.id, [])
        means[t - 1 :] = [result.score]
        common = min(len(means), len(self._best))
        self._equal = [one for one in self._equal if one != trial.id]
        if result.score == WORST:
            return Stop(Why(RULE, result.t, cutoff=self._best[common - 1] if common else None))
        if len(means) < t:  # its earlier folds are unknown
            return CONTINUE
        if trial.id == self._incumbent:
            return self._lead(trial, means)
        if not common:
            return self._lead(trial, means)
        return self._challenge(trial, means, common)

    def _challenge(self, trial: Trial, means: list[float], common: int) -> Decision:
        """Return the decision on a candidate that is not the incumbent."""
        here, best = means[common - 1], self._best[common - 1]
        has_all = common == len(self._best)
        if has_all and here > best:
            self._observe(means, self._best)
            return self._lead(trial, means)
        if len(means) >= self._n_folds:
            self._observe(means, self._best)
            return CONTINUE  # complete
        is_final = has_all and common < self._n_folds
        if is_final and here == best:
            self._equal.append(trial.id)
            return Pause(Why(RULE, len(means), note="equal to the best so far, whose next fold it waits for"))
        cutoff = best - (0.0 if is_final else self._margin * self._deviation() / sqrt(common))
        if here >= cutoff and not is_final:
            return CONTINUE
        self._observe(means, self._best)
        return Stop(Why(RULE, len(means), cutoff=cutoff, against=(self._incumbent,)))

    def _lead(self, trial: Trial, means: list[float]) -> Decision:
        """Make a candidate the incumbent, if it is not; it waits unless it is complete."""
        if trial.id != self._incumbent:
            self._replaced += [self._incumbent] if self._incumbent else []
            self._incumbent = trial.id
        self._best = means
        if len(means) < self._n_folds:
            return Pause(Why(RULE, len(means), note="the best so far, which waits for a challenger"))
        if not self._is_any_complete:
            self._observe(means, [0.0] * len(means))
        self._is_any_complete = True
        return CONTINUE

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        incumbent = trials.trials.get(self._incumbent)
        is_waiting = incumbent is not None and _can_run(incumbent, trials)
        behind = {one for one in self._equal if self._compare(one) <= 0}
        if is_waiting and (behind or self._n_ended + 1 >= self._per_fold * len(self._best)):
            return incumbent
        equal = [trials.trials[one] for one in self._equal if one not in behind]
        waiting = {self._incumbent, *self._replaced, *self._equal}
        others = (one for one in trials.runnable() if one.id not in waiting)
        challenger = next((one for one in equal if _can_run(one, trials)), None) or next(others, None)
        if challenger is None and is_waiting and trials.search_is_over:
            return incumbent
        return challenger

    def review(self, trials: View) -> Iterator[tuple[str, Decision]]:
        """Stop the candidates that were surpassed while they waited."""
        self._replaced = [one for one in self._replaced if one in self._means and one != self._incumbent]
        for trial_id in [*self._replaced, *(one for one in self._equal if self._compare(one) < 0)]:
            if _waits(trials.trials[trial_id]):
                t = min(len(self._means[trial_id]), len(self._best))
                cutoff = self._best[t - 1] if t else None
                yield trial_id, Stop(Why(RULE, t, cutoff=cutoff, against=(self._incumbent,)))

    def on_trial_end(self, trial: Trial) -> None:
        means = self._means.pop(trial.id, None)
        self._n_ended += 1
        self._equal = [one for one in self._equal if one != trial.id]
        if trial.id != self._incumbent:
            return
        if means is None or len(means) < self._n_folds:  # it failed, or somebody ended it
            self._incumbent, self._best = "", []

    def _compare(self, trial_id: str) -> float:
        """Return a candidate's lead on the incumbent's folds; infinity if it has not seen all of them."""
        means, n = self._means[trial_id], len(self._best)
        return means[n - 1] - self._best[-1] if 0 < n <= len(means) else inf

    def _observe(self, means: list[float], reference: list[float]) -> None:
        """Add the differences to the reference, fold by fold, to the estimate of their deviation."""
        sums = [t * (mean - other) for t, (mean, other) in enumerate(zip(means, reference, strict=False), 1)]
        differences = [after - before for before, after in zip([0.0, *sums], sums, strict=False)]
        mean = sum(differences) / len(differences)
        self._squares += sum((one - mean) ** 2 for one in differences)
        self._freedom += len(differences) - 1

    def _deviation(self) -> float:
        return sqrt(self._squares / self._freedom) if self._freedom else 0.0


def _waits(trial: Trial) -> bool:
    return not (trial.status.is_placed or trial.status.is_final)


def _can_run(trial: Trial, trials: View) -> bool:
    return _waits(trial) and trials.fits(trial)
