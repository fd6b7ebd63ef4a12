"""`scheduler="auto"`: stops trials early to the extent that early ranks were seen to predict final ranks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from math import inf

from overtone.core.decision import CONTINUE, Decision, Pause, Stop
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.early_ranks import EarlyRanks, TrialRun
from overtone.schedulers.whole_runs import PAUSING, STOPPING, WholeRuns

AGAIN = 8
"""A trial is judged again each time its t has grown by 1/AGAIN."""

WAITING = 16
"""The largest number of paused trials; the oldest end. Searchers learn of a trial when it ends."""

_WEIGHT = 8.0  # The largest weight of a trial: limits the variance.


@checked
class AutoScheduler(TrialScheduler):
    """Stops trials early to the extent that early ranks were seen to predict final ranks.

    - Whole runs: a random share of time goes to exempt trials, which are never stopped. The share is a
      quarter until two exempt trials ended, or a tenth if trials are paused instead. It then falls as exempt
      trials end and as the estimated speed-up grows, and is never below 5 %.
    - Belief: at rungs 1, 2, 4, ... times the first reported t, the scheduler estimates the correlation of
      ranks there with final ranks. Before trials end, it multiplies the correlations of successive rungs,
      and assumes that trials are four times as long as the furthest trial. No trial is stopped before three
      trials passed two rungs. Whole runs then correct the estimate. An exempt trial that fell below a cutoff
      stands for the trials that were stopped there, and is weighted accordingly. The estimate is lowered by
      its standard error, or by a quarter of it if trials are paused.
    - Cutoff: if ranks have a bivariate normal distribution, a cutoff implies how many of the best trials
      it stops. The scheduler chooses the cutoff that completes one of the best soonest and is predicted
      to lose at most 30 % of them. A trial is judged at all rungs that it passed, each time it is an eighth
      further.
    - Pause: a trial below a cutoff is paused instead of stopped if it saved a checkpoint in the second half
      of its reports so far. It goes on before a new trial starts, once no cutoff is above its score: the
      furthest first, then the best, or the oldest if no trial is stopped at all. The 16 newest wait, and
      older ones end.
    - Test: the exempt trials tell which share of their best quarter the cutoffs would have kept, and which
      share of time. The other trials tell how many of them end among that quarter. Stopping starts at the
      rung with the largest ratio of the two shares. If no ratio exceeds 1, no trial is stopped.

    Bound: if configurations are drawn independently, an exempt trial is as likely to be one of the best as
    a trial of random search. So exempt trials alone find one of the best in at most 20 times the time of
    random search in expectation, whatever the curves are. Until two exempt trials ended, at most three
    quarters of the time are at risk if trials are stopped; what paused trials did is not lost. The aim is 1.1
    times, to one of the best 1 %. It is not proved, and docs/schedulers-compared.md shows what was measured
    on curves that mislead.

    Decisions depend on ranks and on ratios of t only: names, signs and scales of metrics and the unit of
    time do not matter.

    Args:
        time_attr: Metric that serves as the clock. Default: training_iteration.
        metric: Metric to optimise. Default: the experiment's.
        mode: "max" or "min". Default: the experiment's.
        first_whole: Share of time of whole runs until two of them ended, from 0.05 to 1. With 1, no trial is
            stopped before two trials ran to their end. Default: 0.1 if trials are paused, else 0.25.
        pause: Whether trials that saved are paused instead of stopped.
    """

    parks = False
    stopping, pausing = STOPPING, PAUSING  # The benchmark varies them.

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        first_whole: float | None = None, pause: bool = True,
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self.first_whole, self.pause = first_whole, pause

    def on_start(self, view: View) -> None:
        self._view = view
        self._unit = 0.0  # The first reported t.
        self._runs: dict[str, TrialRun] = {}
        self._paused: dict[str, float] = {}  # Scores of trials that wait, in the order of their pauses.
        self._trusts = [
            one if self.first_whole is None else replace(one, first_whole=self.first_whole)
            for one in (self.stopping, self.pausing)
        ]
        self._trust = self._trusts[0]
        self._ranks = EarlyRanks(self._trust.caution)
        self._whole = WholeRuns(self._ranks)

    def on_trial_add(self, trial: Trial) -> None:
        self._runs.setdefault(trial.id, TrialRun())

    def next_decision(self, trial: Trial) -> float:
        run = self._runs[trial.id]
        # The tolerance is that of the rounding in on_result.
        return self._unit * min(2.0 ** len(run.path), run.t * (1 + 1 / AGAIN)) * (1 - 1e-9)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        run, best = self._runs[trial.id], (trial.best or result).score
        self._take_back(trial, run)
        may_pause = self.pause and _keeps_half(trial)
        self._trust = self._trusts[may_pause]
        self._ranks.caution = self._trust.caution
        if 0 < result.t < inf:
            self._unit = self._unit or result.t
            run.t = round(result.t / self._unit, 9)  # The same for all units of time.
            if not run.is_drawn:
                random = self._view.random("auto: whole", str(trial.index))
                self._whole.draw(run, self._trust, random)
            self._ranks.enter(run, best)
        if result.score == WORST:
            return Stop(Why("auto", result.t, note="the metric is NaN"))
        if (k := self._cutoff_above(run, result.score)) is None:
            return CONTINUE
        if run.is_exempt:
            run.weight = min(_WEIGHT, 1 / run.chance)
            return CONTINUE
        why = self._why(k, result.score, result.t)
        return Pause(why) if may_pause else Stop(why)

    def _cutoff_above(self, run: TrialRun, score: float) -> int | None:
        """Return the highest rung whose cutoff a trial with this score is below; None if there is none."""
        if self._ranks.n_ended and run.t >= self._ranks.longest:
            return None
        rungs = range(len(run.path) - 1, -1, -1)
        return next((k for k in rungs if k >= self._whole.grace and self._ranks.is_below(k, score)), None)

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if not isinstance(decision, (Stop, Pause)) or decision.why is None or decision.why.rule != "auto":
            return
        run = self._runs[trial.id]
        if isinstance(decision, Pause) and trial.last is not None:
            self._paused[trial.id] = trial.last.score
        if run.path and not run.is_aside:
            self._ranks.set_aside(run)
            if not run.is_exempt:  # An exempt trial ends only if its metric is NaN.
                self._whole.count(run)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        if not self._paused or trials.first_runnable() is None:
            return trials.first_runnable()
        for trial_id in self._resumable():
            trial = trials.trials[trial_id]
            if not trial.status.is_placed and trials.fits(trial):
                return trial
        return next((one for one in trials.runnable() if not self._waits(one)), None)

    def _waits(self, trial: Trial) -> bool:
        """Return whether a trial is paused; one that failed while it paused is not, and starts again."""
        return trial.id in self._paused and trial.status is not Status.PENDING

    def review(self, trials: View) -> Iterator[tuple[str, Decision]]:
        waiting = [trials.trials[one] for one in self._paused if not trials.trials[one].status.is_placed]
        n, note = len(waiting) - WAITING, f"{WAITING} trials that were paused later wait"
        if trials.search_is_over and len(waiting) == len(self._runs) and not self._resumable():
            n, note = len(waiting), "no other trial will come"
        for trial in waiting[: max(n, 0)]:
            why = trial.why if trial.why is not None and trial.why.rule == "auto" else Why("auto")
            yield trial.id, Stop(replace(why, note=f"{why.note}; {note}" if why.note else note))

    def _resumable(self) -> list[str]:
        """Return the paused trials that are no longer below a cutoff, in the order in which they go on."""
        runs = self._runs
        above = [one for one, score in self._paused.items() if self._cutoff_above(runs[one], score) is None]
        if self._whole.grace < inf:
            above.sort(key=lambda one: (len(runs[one].path), self._paused[one]), reverse=True)
        return above

    def _take_back(self, trial: Trial, run: TrialRun) -> None:
        """Count a trial that was paused as one that goes on."""
        if self._paused.pop(trial.id, None) is not None and run.is_aside:
            self._ranks.take_back(run)
            self._whole.count(run, -1)

    def on_trial_end(self, trial: Trial) -> None:
        run = self._runs[trial.id]
        rule = trial.why.rule if trial.why is not None else ""
        was_cut_short = rule == "auto" or (run.is_aside and rule not in ("", "returned"))
        if not was_cut_short and trial.status is Status.TERMINATED and run.path:
            self._take_back(trial, run)
            if trial.last is not None and trial.best is not None:
                run.t, run.final = round(trial.last.t / self._unit, 9), trial.best.score
                self._ranks.end(run)
            self._whole.end(run)
        self._paused.pop(trial.id, None)
        del self._runs[trial.id]

    def describe(self) -> str:
        ranks = self._ranks
        shown = ", ".join(f"{2**k}: {ranks.believed(k):.2f}" for k in range(len(ranks.rungs)))
        counts = f"num_stopped={ranks.n_aside - len(self._paused)} num_paused={len(self._paused)}"
        return f"Using auto: {counts}\nCorrelation with the end: {shown or 'unknown'}"

    def _why(self, k: int, score: float, t: float) -> Why:
        rho, q = self._ranks.bar(k)
        scores = self._ranks.rungs[k]
        n, bar = len(scores), scores[int(self._ranks.n_below(k, q))]
        rank, note = n - bisect_right(scores, score) + 1, f"rho={rho:.2f}"
        rung = self._unit * 2**k
        if t == rung:
            return Why("auto", t, rung, bar, rank, n, note=note)
        had, cutoff = (f"{self._view.goal.value(one):.4g}" for one in (score, bar))
        told = f"its present {had} ranks {rank} of {n} at that rung, cutoff {cutoff}"
        return Why("auto", t, rung, note=f"{told}; {note}")


def _keeps_half(trial: Trial) -> bool:
    """Return whether a trial that goes on from its newest checkpoint keeps at least half of its reports."""
    saved = trial.checkpoint
    return saved is not None and saved.trial_id == trial.id and 2 * saved.t >= trial.ruled_t
