"""ASHA: asynchronous successive halving (Li et al. 2020, arXiv 1810.05934).

At each rung, grace_period * reduction_factor^k, the best 1/reduction_factor continue, without
waiting for the others. rule="promote" (Algorithm 2): trials pause at each rung, and a free worker
resumes the best promotable trial, from the highest rung down, else starts a new trial. rule="stop":
a trial that is not among the best when it reaches a rung ends. Later brackets have longer grace periods.

Deviations: "stop" compares with the quantile (linearly interpolated) of the *earlier* values, as
Ray Tune does, and the first passes; "promote" counts a value itself and takes floor(n / factor).
Of several rungs that a trial passes between two results only the highest counts.
"""

from collections.abc import Iterator

from overtone.core.decision import CONTINUE, Decision, Pause, Stop
from overtone.core.messages import NEVER
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.ladders import BracketDraw, Ladders
from overtone.schedulers.rungs import Rung


@checked
class ASHAScheduler(TrialScheduler):
    """Asynchronous successive halving: the best 1/`reduction_factor` of the trials at a rung continue.

    Args:
        max_t: Maximum time per trial, in units of `time_attr`.
        grace_period: Minimum time before a trial can be stopped, in the same units.
        brackets: Number of brackets. Trials are assigned at random, more often to earlier ones.
        stop_last_trials: Whether a trial ends at max_t.
        rule: "stop": end trials below the cutoff. "promote": pause trials at rungs, resume the best.
    """

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        max_t: int = 100, grace_period: int = 1, reduction_factor: float = 4, brackets: int = 1,
        stop_last_trials: bool = True, rule: str = "stop",
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode, self.rule = time_attr, metric, mode, rule
        self.bracket_draw = BracketDraw("asha", grace_period, max_t, reduction_factor, brackets)
        self._end, self.pauses = max_t if stop_last_trials else NEVER, rule == "promote"

    def on_start(self, view: View) -> None:
        self._ladders = Ladders(view, self.bracket_draw, Rung)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t >= self._end:
            return self._ladders.finish(trial, result.t, self._end)
        if (rung := self._ladders.arrive(trial, result.t)) is None:
            return CONTINUE
        bar = rung.cutoff(self.bracket_draw.factor) if self.rule == "stop" else None
        is_good = result.score > WORST and (bar is None or result.score >= bar)
        rank = rung.add(result.score, waiting=trial.id if is_good and self.rule == "promote" else "")
        bracket = self._ladders.bracket(trial.id)
        why = Why("asha", result.t, rung.milestone, bar, rank, len(rung), bracket=bracket)
        return Stop(why) if not is_good else CONTINUE if self.rule == "stop" else Pause(why)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        return self._ladders.promoted(trials) if self.rule == "promote" else trials.first_runnable()

    def review(self, trials: View) -> Iterator[tuple[str, Decision]]:
        return self._ladders.leftover(trials)

    def on_trial_add(self, trial: Trial) -> None:
        self._ladders.add(trial)

    def on_trial_end(self, trial: Trial) -> None:
        self._ladders.end(trial)

    def next_decision(self, trial: Trial) -> float:
        return min(self._ladders.following(trial), self._end)

    def describe(self) -> str:
        return self._ladders.describe()
