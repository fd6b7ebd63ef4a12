"""`scheduler="auto"`: stops trials early as far as early values were seen to predict late ones.

How it decides. At each rung 1, 2, 4, ... it estimates the correlation rho of a trial's rank there
with its rank at the end: from the trials that ran to their end (corrected for those that did not,
which were the worse ones: Thorndike 1949, case 2). It begins with `RHO`, or what a random walk of
the same length would have, sqrt(t / end), where that is more; but with no more than the ranks there
are seen to tell of those at the next rung, which is soon known. So it begins bold: to stop too many
at first costs a few draws, of which a search where early values tell little needs many anyway, and
to stop too few costs whole trials. If ranks are those of a bivariate normal, a trial among the best
`BEST` in the end is below the quantile q of a rung with probability
Phi((Phi^-1(q) - rho m) / sqrt(1 - rho^2)), where m is the mean of the best; q is as high as keeps
that at `RISK`, and never above 1 - 1/`FACTOR`.

So where early values tell nothing (rho near 0) hardly any trial is stopped, and where they
tell all, two of three are at each rung, as by asynchronous halving. NaN is stopped at once.
`benchmarks/schedulers.py` measures it beside others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from math import atanh, sqrt, tanh
from statistics import NormalDist, fmean

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result, Why
from overtone.core.view import View

FACTOR = 3.0
"""At least one of so many goes on at a rung."""

RISK = 0.1
"""Which share of the best may be lost at a rung."""

BEST = 0.02
"""Which share of all trials counts as the best."""

RHO = 0.8
"""The correlation that is believed before any trial has ended."""

N_STEPS = 64
"""By so many newest trials a rung is compared with the next one."""

PRIOR = 2.0
"""How many observations that counts for."""

_NORMAL = NormalDist()
_MEAN_OF_BEST = _NORMAL.pdf(_NORMAL.inv_cdf(1 - BEST)) / BEST


class AutoScheduler(TrialScheduler):
    """Stops trials early where that is seen to help; see above for how it decides.

    Args:
        time_attr, metric, mode: The clock and the goal.
    """

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None
    ) -> None:
        self.time_attr, self.metric, self.mode = time_attr, metric, mode

    def on_start(self, view: View) -> None:
        self._n_stopped = self._n_out = 0
        self._rungs: list[list[float]] = []  # of each rung, the scores of all that came there
        self._values: list[
            list[float]
        ] = []  # the same of the values there; before, they may have been better
        self._steps: list[deque[tuple[float, float]]] = []  # of each rung, values there and at the next one
        self._newest: dict[str, float] = {}  # of each trial that runs, its value at its last rung
        self._gone: list[int] = []  # of each rung, how many were stopped below it, and count as worse
        self._paths: dict[str, list[float]] = {}  # of each trial that runs, its score at each rung
        self._ended: list[tuple[float, list[float], float]] = []  # its length, path and final score

    def on_trial_add(self, trial: Trial) -> None:
        self._paths.setdefault(trial.id, [])

    def next_decision(self, trial: Trial) -> float:
        return float(2 ** len(self._paths[trial.id]))

    def on_result(self, trial: Trial, result: Result) -> Decision:
        path, best = self._paths[trial.id], (trial.best or result).score
        decision: Decision = CONTINUE
        if result.score == WORST:
            decision = Stop(Why("auto", result.t, note="the metric is NaN"))
        while result.t >= 2 ** len(path):
            k = len(path)
            if k == len(self._rungs):
                self._rungs.append([])
                self._values.append([])
                self._steps.append(deque(maxlen=N_STEPS))
                self._gone.append(self._n_out)
            insort(self._rungs[k], best)
            insort(self._values[k], result.score)
            if k:
                self._steps[k - 1].append((self._newest[trial.id], result.score))
            self._newest[trial.id] = result.score
            path.append(best)
            decision = self._judged(k, best, result.t, decision)
        return decision

    def on_trial_end(self, trial: Trial) -> None:
        path = self._paths.pop(trial.id)
        self._newest.pop(trial.id, None)
        is_whole = trial.status is Status.TERMINATED and not (trial.why and trial.why.rule == "auto")
        self._n_stopped += bool(trial.why and trial.why.rule == "auto")
        if is_whole and trial.last is not None and trial.best is not None and path:
            self._ended.append((trial.last.t, path, trial.best.score))

    def describe(self) -> str:
        shown = ", ".join(f"{2**k}: {self._rho(k):.2f}" for k in range(len(self._rungs)))
        return f"Using auto: num_stopped={self._n_stopped}\nCorrelation with the end: {shown or 'unknown'}"

    def _judged(self, k: int, score: float, t: float, decision: Decision) -> Decision:
        if decision is not CONTINUE:
            return decision
        rho, scores, gone = self._rho(k), self._rungs[k], self._gone[k]
        q = _NORMAL.cdf(rho * _MEAN_OF_BEST + sqrt(1 - rho**2) * _NORMAL.inv_cdf(RISK))
        n, below = len(scores), bisect_left(scores, score)
        share = min((q * (n + gone) - gone) / n, 1 - 1 / FACTOR)
        if below + 1 > share * n:
            return CONTINUE
        for j in range(k + 1, len(self._gone)):
            self._gone[j] += 1
        self._n_out += 1
        why = Why("auto", t, 2**k, scores[int(share * n)], n - below, n, note=f"rho={rho:.2f}")
        return Stop(why)

    def _rho(self, k: int) -> float:
        """The correlation of ranks at rung k with ranks in the end."""
        prior = RHO
        if self._ended:
            end = sorted(length for length, _, _ in self._ended)[len(self._ended) // 2]
            prior = max(RHO, min(0.95, sqrt(2**k / end)))
        if k + 1 < len(self._values):
            # what tells little of the next rung tells no more of the end
            steps = self._steps[k]
            x = [_z(self._values[k], now, self._gone[k]) for now, _ in steps]
            y = [_z(self._values[k + 1], after, self._gone[k + 1]) for _, after in steps]
            prior = min(prior, _correlation(x, y, prior))
        pairs = [(path[k], final) for _, path, final in self._ended if len(path) > k]
        finals = sorted(final for _, final in pairs)
        x = [_z(self._rungs[k], score, self._gone[k]) for score, _ in pairs]
        return max(0.0, _correlation(x, [_z(finals, final) for _, final in pairs], prior))


def _correlation(x: list[float], y: list[float], prior: float) -> float:
    """Of normal scores, as it would be if those of all were among `x`; `prior` where they tell nothing."""
    n = len(x)
    if n < 4:
        return prior
    mx, my = fmean(x), fmean(y)
    sxx, syy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    if sxx * syy == 0:
        return prior
    r = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / sqrt(sxx * syy)
    u = max(1.0, 1 / sqrt(sxx / (n - 1)))  # the spread of all over that of those that went on
    r = r * u / sqrt(1 - r * r + r * r * u * u) if abs(r) < 1 else r
    r = min(max(r, -0.99), 0.99)
    return tanh((PRIOR * atanh(prior) + (n - 3) * atanh(r)) / (PRIOR + n - 3))


def _z(ascending: list[float], score: float, gone: int = 0) -> float:
    """The normal score of a value's (middle) rank, where `gone` others are worse."""
    n = len(ascending) + gone
    place = gone + (bisect_left(ascending, score) + bisect_right(ascending, score)) / 2
    return _NORMAL.inv_cdf(min(max(place, 0.5), n - 0.5) / n)
