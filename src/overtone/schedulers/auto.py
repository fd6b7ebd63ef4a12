"""`scheduler="auto"`: stops trials early to the extent that early ranks were seen to predict final ranks."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from math import inf

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.early_ranks import CAUTION, RECENT, EarlyRanks, TrialRun

LEAST_WHOLE = 0.05
"""The least share of time that goes to whole runs."""

FIRST_WHOLE = 0.25
"""The default share of time of whole runs until MIN_ENDED of them ended."""

SPENDING = 4.0
"""After n whole runs, their share of time is at least 1 / (1 / first_whole + SPENDING n)."""

DOUBT = 0.5
"""The share of time of whole runs is at least DOUBT over the estimated speed-up."""

MIN_ENDED = 2
"""The rule is tested once this many whole runs ended."""

AGAIN = 8
"""A trial is judged again each time its t has grown by 1/AGAIN."""

TOP = 4.0
"""The test of the rule asks whether it keeps the best of every TOP whole runs."""

BELIEVED, BELIEVED_KEPT = 2.0, 0.6
"""The test begins with this many trials among the best, of which the rule kept this share."""

UNSKILLED = 2.0
"""It also begins with this many of which the rule kept no larger share than of all trials."""

_WEIGHT = 8.0  # The largest weight of a trial: limits the variance.


@checked
class AutoScheduler(TrialScheduler):
    """Stops trials early to the extent that early ranks were seen to predict final ranks.

    - Whole runs: a random share of time goes to exempt trials, which are never stopped. The share is a
      quarter until two exempt trials ended. It then falls as exempt trials end and as the estimated speed-up
      grows, and is never below 5 %.
    - Belief: at rungs 1, 2, 4, ... times the first reported t, the scheduler estimates the correlation of
      ranks there with final ranks. Before trials end, it multiplies the correlations of successive rungs,
      and assumes that trials are four times as long as the furthest trial. No trial is stopped before three
      trials passed two rungs. Whole runs then correct the estimate. An exempt trial that fell below a cutoff
      stands for the trials that were stopped there, and is weighted accordingly. The estimate is lowered by
      its standard error.
    - Cutoff: if ranks have a bivariate normal distribution, a cutoff implies how many of the best trials
      it stops. The scheduler chooses the cutoff that completes one of the best soonest and is predicted
      to lose at most 30 % of them. A trial is judged at all rungs that it passed, each time it is an eighth
      further.
    - Test: the exempt trials tell which share of their best quarter the cutoffs would have kept, and which
      share of time. The other trials tell how many of them end among that quarter. Stopping starts at the
      rung with the largest ratio of the two shares. If no ratio exceeds 1, no trial is stopped.

    Bound: if configurations are drawn independently, an exempt trial is as likely to be one of the best as
    a trial of random search. So exempt trials alone find one of the best in at most 20 times the time of
    random search in expectation, whatever the curves are. Until two exempt trials ended, at most three
    quarters of the time are at risk. The aim is 1.1 times, to one of the best 1 %. It is not proved, and
    docs/schedulers-compared.md shows what was measured on curves that mislead.

    Decisions depend on ranks and on ratios of t only: names, signs and scales of metrics and the unit of
    time do not matter.

    Args:
        time_attr: Metric that serves as the clock. Default: training_iteration.
        metric: Metric to optimise. Default: the experiment's.
        mode: "max" or "min". Default: the experiment's.
        first_whole: Share of time of whole runs until two of them ended, from 0.05 to 1. With 1, no trial is
            stopped before two trials ran to their end.
    """

    _caution, _doubt = CAUTION, DOUBT  # The constants that the benchmark varies.

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        first_whole: float = FIRST_WHOLE,
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self.first_whole = first_whole

    def on_start(self, view: View) -> None:
        self._view = view
        self._unit = 0.0  # The first reported t.
        self._runs: dict[str, TrialRun] = {}
        self._ranks = EarlyRanks(self._caution)
        self._exempt: deque[TrialRun] = deque(maxlen=RECENT)  # The newest exempt trials that ended.
        self._n_exempt = self._n_judged = self._n_tested = 0
        self._judged_t = 0.0  # Total length of trials that were not exempt, in units.
        self._grace: float = 0  # The first rung at which trials are stopped.
        self._speedup = 1.0
        self._start_era()

    def _start_era(self) -> None:
        """Reset the counts of kept trials, since stopping starts at another rung."""
        self._era, self._era_n = getattr(self, "_era", -1) + 1, 0
        self._era_finals: list[float] = []

    def on_trial_add(self, trial: Trial) -> None:
        self._runs.setdefault(trial.id, TrialRun())

    def next_decision(self, trial: Trial) -> float:
        run = self._runs[trial.id]
        # The tolerance is that of the rounding in on_result.
        return self._unit * min(2.0 ** len(run.path), run.t * (1 + 1 / AGAIN)) * (1 - 1e-9)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        run, best = self._runs[trial.id], (trial.best or result).score
        if 0 < result.t < inf:
            self._unit = self._unit or result.t
            run.t = round(result.t / self._unit, 9)  # The same for all units of time.
            self._enter(trial, run, best)
        if result.score == WORST:
            return Stop(Why("auto", result.t, note="the metric is NaN"))
        if self._ranks.n_ended and run.t >= self._ranks.longest:
            return CONTINUE
        for k in range(len(run.path) - 1, -1, -1):
            if k >= self._grace and self._ranks.is_below(k, result.score):
                if not run.is_exempt:
                    return Stop(self._why(k, result.score, result.t))
                run.weight = min(_WEIGHT, 1 / run.chance)
                break
        return CONTINUE

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if isinstance(decision, Stop) and decision.why is not None and decision.why.rule == "auto":
            self._ranks.stop(self._runs[trial.id])

    def on_trial_end(self, trial: Trial) -> None:
        run = self._runs.pop(trial.id)
        is_stopped = trial.why is not None and trial.why.rule == "auto"
        if trial.status is not Status.TERMINATED or not run.path:
            return
        if not is_stopped and trial.last is not None and trial.best is not None:
            run.t, run.final = round(trial.last.t / self._unit, 9), trial.best.score
            self._ranks.end(run)
        if not run.is_exempt:
            self._n_judged += 1
            self._judged_t += run.t
            if run.era == self._era:
                self._era_n += 1
                if not is_stopped:
                    self._era_finals.append(run.final)
        elif not is_stopped:
            self._n_exempt += 1
            self._exempt.append(run)
        if self._n_exempt + self._n_judged > self._n_tested * (1 + 1 / AGAIN):
            self._test()

    def describe(self) -> str:
        ranks = self._ranks
        shown = ", ".join(f"{2**k}: {ranks.believed(k):.2f}" for k in range(len(ranks.rungs)))
        return f"Using auto: num_stopped={ranks.n_stopped}\nCorrelation with the end: {shown or 'unknown'}"

    # --- whole runs ----------------------------------------------------------------------------

    def _chance(self) -> float:
        """Return the probability that a new trial is exempt. Exempt trials get their share of time by it."""
        share = self.first_whole
        if self._n_exempt >= MIN_ENDED:
            spent = share / (1 + SPENDING * share * self._n_exempt)
            share = max(LEAST_WHOLE, spent, min(1.0, self._doubt / self._speedup))
        if not self._n_judged:
            return share
        mean = self._judged_t / self._n_judged
        return share * mean / (max(mean, self._ranks.likely_length) * (1 - share) + share * mean)

    def _enter(self, trial: Trial, run: TrialRun, best: float) -> None:
        """Record the rungs that a trial reached."""
        if not run.is_drawn:
            chance = self._chance()
            random = self._view.random("auto: whole", str(trial.index)).random()
            run.is_drawn, run.is_exempt, run.chance, run.era = True, random < chance, chance, self._era
        self._ranks.enter(run, best)

    # --- the test of the rule ------------------------------------------------------------------

    def _test(self) -> None:
        """Choose the rung at which stopping starts, by what the rule would have kept of whole runs."""
        self._n_tested = self._n_exempt + self._n_judged
        runs = sorted(self._exempt, key=lambda run: -run.final)
        if len(runs) < MIN_ENDED:
            return
        n_top = max(1, round(len(runs) / TOP))
        below = [[self._ranks.is_below(k, score) for k, score in enumerate(run.path)] for run in runs]
        total = sum(run.t for run in runs)
        speedup, grace = 1.0, inf
        for first in range(max(map(len, below))):
            ends = [next((k for k in range(first, len(one)) if one[k]), None) for one in below]
            kept = [end is None for end in ends]
            spent = sum(run.t if end is None else 2.0**end for run, end in zip(runs, ends, strict=True))
            time = (spent + 1) / (total + 1)
            n_kept, n_best = float(sum(kept[:n_top])), float(n_top)
            if first == self._grace:
                n_kept += sum(final >= runs[n_top - 1].final for final in self._era_finals)
                n_best += self._era_n * n_top / (len(runs) + 1)
            n_kept += BELIEVED * max(BELIEVED_KEPT, time) + UNSKILLED * sum(kept) / len(runs)
            if (ratio := n_kept / (n_best + BELIEVED + UNSKILLED) / time) > speedup:
                speedup, grace = ratio, first
        self._speedup = speedup
        if grace != self._grace:
            self._grace = grace
            self._start_era()

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
