"""The median stopping rule (Golovin et al. 2017, "Google Vizier", section 3.2.2).

A trial ends at t when its best value so far is below the median of the others' averages up to t.
Deviations: as in Ray Tune all that came to t count, not only completed ones, and averages begin at
grace_period; trials are compared where the furthest one reported; min_time_slice=0 lets none yield."""

from overtone.core.decision import CONTINUE, Decision, Pause, Stop
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.rungs import Rung


@checked
class MedianStoppingRule(TrialScheduler):
    """Stops trials from `grace_period` on if `min_samples_required` others can be compared. If not,
    trials yield after `min_time_slice`. hard_stop=False pauses them until all others are done."""

    def __init__(
        self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None,
        grace_period: float = 60.0, min_samples_required: int = 3, min_time_slice: float = 0,
        hard_stop: bool = True,
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode, self.rules_from = time_attr, metric, mode, grace_period
        self._needs, self._slice, self._is_hard = min_samples_required, min_time_slice, hard_stop
        self.pauses = not hard_stop or min_time_slice > 0

    def on_start(self, view: View) -> None:
        self._view, self._lost, self._yielded = view, set[str](), dict[str, float]()
        self._marks: list[Rung] = []  # At each mark, the averages of all trials that reached it.
        self._seen: dict[str, tuple[int, float, int]] = {}  # Number of results, sum, marks.

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t < self.rules_from or trial.id in self._lost:
            return CONTINUE
        (n, total, passed), bar, others = self._seen.get(trial.id, (0, 0.0, 0)), None, self._needs
        if passed == len(self._marks):
            self._marks.append(Rung(result.t))
        while passed < len(self._marks) and (mark := self._marks[passed]).milestone <= result.t:
            bar, others, passed = mark.cutoff(2), len(mark), passed + 1
            if n or mark.milestone == result.t:
                mark.add((total + result.score) / (n + 1) if mark.milestone == result.t else total / n)
        self._seen[trial.id] = (n + 1, total + result.score, passed)
        why, is_enough = Why("median", result.t, cutoff=bar, of=others), others >= self._needs
        if result.score == WORST or (is_enough and bar is not None and (trial.best or result).score < bar):
            self._lost.add(trial.id)
            return Stop(why) if self._is_hard else Pause(why)
        ran = result.t - self._yielded.setdefault(trial.id, 0)
        if is_enough or not 0 < self._slice <= ran or not self._view.n_waiting:
            return CONTINUE
        self._yielded[trial.id] = result.t
        return Pause(why)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        return next((t for t in trials.runnable() if trials.search_is_over or t.id not in self._lost), None)

    def describe(self) -> str:
        return f"Using MedianStoppingRule: num_stopped={len(self._lost)}."
