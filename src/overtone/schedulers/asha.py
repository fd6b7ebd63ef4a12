"""Asynchronous successive halving (Li et al. 2020, "A System for Massively Parallel
Hyperparameter Tuning", arXiv 1810.05934).

At each rung (grace_period * reduction_factor^k) a trial goes on if it is among the best
1/reduction_factor of those that came there before it; nobody waits for anybody. Brackets
start with longer grace periods, for metrics whose early values say little.

Deviations: the stopping rule, as Ray Tune has it: a value is compared with the quantile
(linear interpolation) of the *earlier* values of its rung, and the first always passes.
"""

from __future__ import annotations

from bisect import bisect_right, insort

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why
from overtone.core.view import View
from overtone.schedulers.rungs import cutoff, milestones


class ASHAScheduler(TrialScheduler):
    """Stops a trial at a rung unless it is among the best 1/`reduction_factor` there.

    Args:
        time_attr: The metric that is the clock; max_t and grace_period are in its units.
        metric, mode: The goal, unless it is named elsewhere.
        max_t: A trial ends here.
        grace_period: No trial is stopped earlier.
        reduction_factor: The share that goes on is its inverse.
        brackets: Trials are spread over so many, at random, the earlier ones more often.
        stop_last_trials: Whether a trial ends at max_t.
    """

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        max_t: int = 100, grace_period: int = 1, reduction_factor: float = 4, brackets: int = 1,
        stop_last_trials: bool = True,
    ) -> None:  # fmt: skip
        if not (0 < grace_period <= max_t and reduction_factor > 1 and brackets >= 1):
            raise ValueError(
                f"need 0 < grace_period <= max_t, reduction_factor > 1 and brackets >= 1, not grace_period="
                f"{grace_period}, max_t={max_t}, reduction_factor={reduction_factor}, brackets={brackets}"
            )
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self.max_t, self._stops_last = max_t, stop_last_trials
        self._grace, self._eta, self._n_brackets = grace_period, reduction_factor, brackets

    def on_start(self, view: View) -> None:
        self._view, self._n_stopped = view, 0
        self._brackets = [
            {rung: list[float]() for rung in milestones(self._grace, self.max_t, self._eta, skip)}
            for skip in range(self._n_brackets)
        ]
        self._next: dict[str, tuple[int, float]] = {}  # trial id -> its bracket, its next rung

    def on_trial_add(self, trial: Trial) -> None:
        sizes = [max(1, len(rungs)) * self._eta ** (len(rungs) - 1) for rungs in self._brackets]
        bracket = self._view.random("asha bracket", trial.id).choices(range(len(sizes)), sizes)[0]
        self._next[trial.id] = (bracket, min(self._brackets[bracket], default=float("inf")))

    def next_decision(self, trial: Trial) -> float:
        return min(self._next[trial.id][1], self.max_t if self._stops_last else float("inf"))

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if self._stops_last and result.t >= self.max_t:
            return Stop(Why("max_t", t=result.t, note=f"reached max_t={self.max_t}"))
        bracket, following = self._next[trial.id]
        if result.t < following:
            return CONTINUE
        rungs = self._brackets[bracket]
        rung = max(one for one in rungs if one <= result.t)
        self._next[trial.id] = (bracket, min((one for one in rungs if one > result.t), default=float("inf")))
        scores, bar = rungs[rung], cutoff(rungs[rung], self._eta)
        insort(scores, result.score)
        if result.score > WORST and (bar is None or result.score >= bar):
            return CONTINUE
        rank = len(scores) - bisect_right(scores, result.score) + 1
        return Stop(Why("asha", result.t, rung, bar, rank, len(scores)))

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        self._n_stopped += isinstance(decision, Stop) and decision.why.rule == "asha"

    def on_trial_end(self, trial: Trial) -> None:
        self._next.pop(trial.id, None)

    def describe(self) -> str:
        lines = [f"Using AsyncHyperBand: num_stopped={self._n_stopped}"]
        value = self._view.goal.value
        for rungs in self._brackets:
            bars = [(rung, cutoff(rungs[rung], self._eta)) for rung in sorted(rungs, reverse=True)]
            shown = [f"Iter {r:.3f}: {bar if bar is None else f'{value(bar):.4g}'}" for r, bar in bars]
            lines.append("Bracket: " + " | ".join(shown))
        return "\n".join(lines)


ASHA = AsyncHyperBandScheduler = ASHAScheduler
