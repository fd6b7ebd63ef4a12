"""The scheduler of BOHB (Falkner et al. 2018, "BOHB: Robust and Efficient Hyperparameter
Optimization at Scale", arXiv 1807.01774).

HyperBand decides how many configurations run on which budget; the searcher's model chooses them,
learning from all results at the largest budget that has enough of them. This is the HyperBand
part, which keeps those results by budget.

Deviations: brackets are those of HyperBand as it is here: the ones with the most trials first,
rungs in whole numbers from max_t downwards. The paper's min_budget is `grace_period`.
"""

from __future__ import annotations

from overtone.core.decision import Decision
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.schedulers.hyperband import HyperBandScheduler


class HyperBandForBOHB(HyperBandScheduler):
    """HyperBand that provides a searcher with the scores at each budget.

    Attributes:
        found: By budget (a rung), the score of each trial that reached it, by trial id in order of
            arrival; a higher score is better.
    """

    rule = "bohb"
    next_decision = HyperBandScheduler.next_decision

    def on_start(self, view: View) -> None:
        super().on_start(view)
        self.found: dict[int, dict[str, float]] = {t: {} for plan in self.plans for _, t in plan}

    def on_result(self, trial: Trial, result: Result) -> Decision:
        milestone = self._of[trial.id].milestone
        if result.t >= milestone:
            self.found[milestone].setdefault(trial.id, result.score)
        return super().on_result(trial, result)
