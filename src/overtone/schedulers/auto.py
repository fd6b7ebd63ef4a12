"""`scheduler="auto"`: stops trials early to the extent that early ranks were seen to predict final ranks."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass, field
from itertools import takewhile
from math import atanh, inf, sqrt, tanh
from statistics import median_high

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result, Why
from overtone.core.view import View
from overtone.schedulers.arguments import checked
from overtone.schedulers.normal_scores import (
    NORMAL,
    normal_score,
    weighted_correlation,
    weighted_normal_scores,
)

LEAST_WHOLE = 0.05
"""The least share of time that goes to whole runs."""

SPENDING = 4.0
"""After n whole runs, their share of time is at least 1 / (1 + SPENDING n)."""

DOUBT = 0.5
"""The share of time of whole runs is at least DOUBT over the estimated speed-up."""

MIN_ENDED = 2
"""No trial is stopped before this many trials ran to their end."""

BEST = 0.01
"""The share of trials that counts as the best when a cutoff is chosen."""

RISK = 0.3
"""The largest predicted share of the best that a cutoff may lose."""

FACTOR = 8.0
"""At least one of this many trials continues at each rung."""

AGAIN = 8
"""A trial is judged again each time it is 1/AGAIN further."""

CAUTION = 0.5
"""By how many standard errors a correlation is lowered."""

RECENT = 64
"""How many of the newest trials are kept as evidence, at each rung and at the end."""

LATER_RUNG = 4.0
"""The largest number of observations for which a comparison with a later rung counts."""

TOP = 4.0
"""The test of the rule asks whether it keeps the best of every TOP whole runs."""

BELIEVED, BELIEVED_KEPT = 2.0, 0.6
"""The test begins with this many trials among the best, of which the rule kept this share."""

UNSKILLED = 2.0
"""It also begins with this many of which the rule kept no larger share than of all trials."""

_WEIGHT = 8.0  # The largest weight of a trial: limits the variance.
_QUANTILES = [0.001, *(i / 40 for i in range(1, 40)), 0.98, 0.99]
_MEAN_OF_BEST = NORMAL.pdf(NORMAL.inv_cdf(1 - BEST)) / BEST


@dataclass(slots=True)
class _Run:
    """A trial: `t` in units, best scores until each rung, `weight` 1 over its chance to be run whole."""

    path: list[float] = field(default_factory=list)
    t: float = 0.0
    final: float = WORST
    is_drawn: bool = False
    is_exempt: bool = False
    chance: float = 1.0
    weight: float = 1.0
    era: int = 0


@checked
class AutoScheduler(TrialScheduler):
    """Stops trials early to the extent that early ranks were seen to predict final ranks.

    The scheduler starts without belief: no trial is stopped before two trials ran to their end.

    - Whole runs: a random share of time goes to exempt trials, which are never stopped. The share is 1 at
      first, falls as exempt trials end and as the estimated speed-up grows, and is never below 5 %.
    - Belief: at rungs 1, 2, 4, ... times the first reported t, the scheduler estimates the correlation of
      ranks there with final ranks and, while few trials have ended, with ranks at the latest rung that
      three trials reached. An exempt trial that fell below a cutoff stands for the trials that were stopped
      there, and is weighted accordingly. The estimate is lowered by a part of its standard error.
    - Cutoff: if ranks have a bivariate normal distribution, a cutoff implies how many of the best trials
      it stops. The scheduler chooses the cutoff that completes one of the best soonest and is predicted
      to lose at most 30 % of them. A trial is judged at all rungs that it passed, each time it is an eighth
      further.
    - Test: the exempt trials tell which share of their best quarter the cutoffs would have kept, and which
      share of time. The other trials tell how many of them end among that quarter. Stopping starts at the
      rung with the largest ratio of the two shares. If no ratio exceeds 1, no trial is stopped.

    Bound: if configurations are drawn independently, an exempt trial is as likely to be one of the best as
    a trial of random search, so the expected time is at most 20 times that of random search, whatever the
    curves are. If the test finds no gain, the time is that of random search. The aim is 1.1 times, to one
    of the best 1 %; it is measured on curves that mislead, not proved.

    Decisions depend on ranks and on ratios of t only: names, signs and scales of metrics and the unit of
    time do not matter.

    Args:
        time_attr: Metric that serves as the clock. Default: training_iteration.
        metric: Metric to optimise. Default: the experiment's.
        mode: "max" or "min". Default: the experiment's.
    """

    _caution, _doubt = CAUTION, DOUBT  # The constants that the benchmark varies.

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None
    ) -> None:
        self.time_attr, self.metric, self.mode = time_attr, metric, mode

    def on_start(self, view: View) -> None:
        self._view = view
        self._unit = 0.0  # The first reported t.
        self._runs: dict[str, _Run] = {}
        self._rungs: list[list[float]] = []  # Sorted scores of the trials that reached each rung.
        self._gone: list[int] = []  # Number of trials stopped below each rung; they count as worse.
        self._came: list[deque[tuple[list[float], float]]] = []  # Paths and weights of newcomers.
        self._ended: deque[_Run] = deque(maxlen=RECENT)
        self._exempt: deque[_Run] = deque(maxlen=RECENT)  # The exempt trials among them.
        self._length = self._longest = 0.0  # Median and maximum of trials that ended, in units.
        self._n_ended = self._n_exempt = self._n_stopped = self._n_judged = self._n_tested = 0
        self._judged_t = 0.0  # Total length of trials that were not exempt, in units.
        self._bars: dict[int, tuple[int, int, float, float]] = {}
        self._grace: float = 0  # The first rung at which trials are stopped.
        self._speedup = 1.0
        self._start_era()

    def _start_era(self) -> None:
        """Count anew what the rule kept, since stopping starts at another rung."""
        self._era, self._era_n = getattr(self, "_era", -1) + 1, 0
        self._era_finals: list[float] = []

    def on_trial_add(self, trial: Trial) -> None:
        self._runs.setdefault(trial.id, _Run())

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
        if self._n_ended < MIN_ENDED or run.t >= self._longest:
            return CONTINUE
        for k in range(len(run.path) - 1, -1, -1):
            if k >= self._grace and self._is_below(k, result.score):
                if not run.is_exempt:
                    return Stop(self._why(k, result.score, result.t))
                run.weight = min(_WEIGHT, 1 / run.chance)
                break
        return CONTINUE

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if isinstance(decision, Stop) and decision.why is not None and decision.why.rule == "auto":
            self._n_stopped += 1
            for k in range(len(self._runs[trial.id].path), len(self._gone)):
                self._gone[k] += 1

    def on_trial_end(self, trial: Trial) -> None:
        run = self._runs.pop(trial.id)
        is_stopped = trial.why is not None and trial.why.rule == "auto"
        if trial.status is not Status.TERMINATED or not run.path:
            return
        if not is_stopped and trial.last is not None and trial.best is not None:
            run.t, run.final = round(trial.last.t / self._unit, 9), trial.best.score
            self._n_ended += 1
            self._ended.append(run)
            self._length = median_high(one.t for one in self._ended)
            self._longest = max(self._longest, run.t)
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
        shown = ", ".join(f"{2**k}: {self._rho(k):.2f}" for k in range(len(self._rungs)))
        return f"Using auto: num_stopped={self._n_stopped}\nCorrelation with the end: {shown or 'unknown'}"

    # --- whole runs ----------------------------------------------------------------------------

    def _chance(self) -> float:
        """Return the probability that a new trial is exempt. Exempt trials get their share of time by it."""
        if self._n_ended < MIN_ENDED:
            return 1.0
        share = max(LEAST_WHOLE, 1 / (1 + SPENDING * self._n_exempt), min(1.0, self._doubt / self._speedup))
        if not self._n_judged:
            return share
        mean = self._judged_t / self._n_judged
        return share * mean / (self._length * (1 - share) + share * mean)

    def _enter(self, trial: Trial, run: _Run, best: float) -> None:
        """Record the rungs that a trial reached."""
        if not run.is_drawn:
            chance = self._chance()
            random = self._view.random("auto: whole", str(trial.index)).random()
            run.is_drawn, run.is_exempt, run.chance, run.era = True, random < chance, chance, self._era
        while 2 ** len(run.path) <= run.t:
            k = len(run.path)
            if k == len(self._rungs):
                self._rungs.append([])
                self._gone.append(self._n_stopped)
                self._came.append(deque(maxlen=RECENT))
            insort(self._rungs[k], best)
            run.path.append(best)
            self._came[k].append((run.path.copy(), run.weight))

    # --- cutoffs -------------------------------------------------------------------------------

    def _is_below(self, k: int, score: float) -> bool:
        """Return whether a score is below the cutoff of rung k. Equal scores all rank as the best of them."""
        _, q = self._bar(k)
        return q > _QUANTILES[0] and bisect_right(self._rungs[k], score) <= self._n_below(k, q)

    def _n_below(self, k: int, q: float) -> float:
        n, gone = len(self._rungs[k]), self._gone[k]
        return min(q * (n + gone) - gone, (1 - 1 / FACTOR) * n)

    def _bar(self, k: int) -> tuple[float, float]:
        """Return rho and the quantile of the cutoff, computed again when an eighth more is known."""
        n, m = len(self._rungs[k]), self._n_ended
        bar = self._bars.get(k)
        if bar is None or n >= bar[0] or m >= bar[1]:
            rho = self._rho(k)
            q = self._soonest(k, rho) if rho > 0 else 0.0
            bar = self._bars[k] = (n + n // 8 + 1, m + m // 8 + 1, rho, q)
        return bar[2], bar[3]

    def _soonest(self, k: int, rho: float) -> float:
        """Return the quantile of rung k that completes one of the best soonest."""
        spread = sqrt(1 - rho**2)
        most = NORMAL.cdf(rho * _MEAN_OF_BEST + spread * NORMAL.inv_cdf(RISK))
        lengths = [1.0, *(2.0**j / 2 for j in range(1, k + 1))]
        came = [len(rung) / (len(rung) + gone) for rung, gone in zip(self._rungs, self._gone, strict=True)]
        spent = sum(share * length for share, length in zip(came, lengths, strict=False))
        rest = max(self._length - 2.0**k, 0.0)

        def time(q: float) -> float:
            kept = 1 - NORMAL.cdf((NORMAL.inv_cdf(q) - rho * _MEAN_OF_BEST) / spread)
            return (spent + (1 - q) * rest) / max(kept, 1e-9)

        return min(most, min(_QUANTILES, key=time))

    def _rho(self, k: int) -> float:
        """Return the correlation of ranks at rung k with final ranks, lowered by its uncertainty."""
        whole = [run for run in self._ended if len(run.path) > k]
        total, n = 0.0, 0.0
        if len(whole) >= 2:
            weights = [run.weight for run in whole]
            x = [self._z(k, run.path[k]) for run in whole]
            y = weighted_normal_scores([run.final for run in whole], weights)
            r, size = weighted_correlation(x, y, weights)
            n = max(0.0, size - 1)
            total = atanh(r) * n
        end = self._length or inf
        reached = takewhile(lambda j: 2.0**j <= end, range(len(self._came)))
        later = max((j for j in reached if j > k and len(self._came[j]) >= 3), default=None)
        if later is not None:
            came = self._came[later]
            x, y = ([self._z(j, path[j]) for path, _ in came] for j in (k, later))
            r, size = weighted_correlation(x, y, [weight for _, weight in came])
            # Ranks drift like a random walk from there to the end; few trials are no proof.
            r = tanh(atanh(max(r, 0.0)) * size / (size + 1)) * (sqrt(2.0**later / end) if end < inf else 0.0)
            size = min(LATER_RUNG, size)
            total, n = total + atanh(min(r, 0.99)) * size, n + size
        prior = 0.0 if later is not None else 2.0
        return max(0.0, tanh(total / (n + prior) - self._caution / sqrt(n))) if n else 0.0

    def _z(self, k: int, score: float) -> float:
        return normal_score(self._rungs[k], score, self._gone[k])

    # --- the test of the rule ------------------------------------------------------------------

    def _test(self) -> None:
        """Choose the rung at which stopping starts, by what the rule would have kept of whole runs."""
        self._n_tested = self._n_exempt + self._n_judged
        runs = sorted(self._exempt, key=lambda run: -run.final)
        if len(runs) < MIN_ENDED:
            return
        n_top = max(1, round(len(runs) / TOP))
        below = [[self._is_below(k, score) for k, score in enumerate(run.path)] for run in runs]
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
        rho, q = self._bar(k)
        scores = self._rungs[k]
        n, bar = len(scores), scores[int(self._n_below(k, q))]
        rank, note = n - bisect_right(scores, score) + 1, f"rho={rho:.2f}"
        rung = self._unit * 2**k
        if t == rung:
            return Why("auto", t, rung, bar, rank, n, note=note)
        had, cutoff = (f"{self._view.goal.value(one):.4g}" for one in (score, bar))
        told = f"its present {had} ranks {rank} of {n} at that rung, cutoff {cutoff}"
        return Why("auto", t, rung, note=f"{told}; {note}")
