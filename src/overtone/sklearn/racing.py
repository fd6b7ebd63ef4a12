"""Racing over folds: a candidate is compared with the best complete one on the same folds.

The idea of comparing on equal instances: Birattari et al. 2002, "A racing algorithm for configuring
metaheuristics" (F-Race); of comparing with the incumbent alone: Hutter et al. 2009, "ParamILS".
"""

from __future__ import annotations

from math import sqrt

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why


class FoldRacing(TrialScheduler):
    """Stops a candidate whose mean so far is below that of the best complete one on the same folds.

    Folds differ more than good candidates do, so that only means over the same folds are compared. Until a
    candidate is complete, none is stopped.

    Args:
        n_folds: Number of folds.
        margin: A candidate goes on while it is this number of standard errors below. The standard deviation
            of differences on a fold is estimated from all candidates with two folds or more; the estimate
            begins with the deviation of the first complete candidate's own scores.
    """

    def __init__(self, n_folds: int, margin: float = 0.5) -> None:
        self._n_folds, self._margin = n_folds, margin

    def on_start(self, view: View) -> None:
        self._means: dict[str, list[float]] = {}
        self._best: list[float] = []
        self._squares, self._freedom = 0.0, 0

    def on_result(self, trial: Trial, result: Result) -> Decision:
        t = int(result.t)
        means = self._means.setdefault(trial.id, [])
        means[t - 1 :] = [result.score]
        if result.score == WORST:
            return Stop(Why("racing", result.t, cutoff=self._best[t - 1] if self._best else None))
        if t >= self._n_folds:
            self._complete(means)
            return CONTINUE
        if not self._best or len(means) < t:
            return CONTINUE
        cutoff = self._best[t - 1] - self._margin * self._deviation() / sqrt(t)
        if result.score >= cutoff:
            return CONTINUE
        self._observe(means, self._best)
        return Stop(Why("racing", result.t, cutoff=cutoff))

    def on_trial_end(self, trial: Trial) -> None:
        self._means.pop(trial.id, None)

    def _complete(self, means: list[float]) -> None:
        self._observe(means, self._best or [0.0] * len(means))
        if len(means) == self._n_folds and (not self._best or means[-1] > self._best[-1]):
            self._best = means

    def _observe(self, means: list[float], reference: list[float]) -> None:
        """Add the differences to the reference, fold by fold, to the estimate of their deviation."""
        sums = [t * (mean - other) for t, (mean, other) in enumerate(zip(means, reference, strict=False), 1)]
        differences = [after - before for before, after in zip([0.0, *sums], sums, strict=False)]
        mean = sum(differences) / len(differences)
        self._squares += sum((one - mean) ** 2 for one in differences)
        self._freedom += len(differences) - 1

    def _deviation(self) -> float:
        return sqrt(self._squares / self._freedom) if self._freedom else 0.0
