"""`scheduler="auto"`: stops trials early as far as early values were seen to predict late ones.

How it decides. At each rung 1, 2, 4, ... it estimates the correlation rho of a trial's rank there
with its rank at the end: from the trials that ran to their end (corrected for those that did not,
which were the worse ones: Thorndike 1949, case 2). It begins with `RHO`, or what a random walk of
the same length would have, sqrt(t / end), where that is more; but with no more than the ranks there
are seen to tell of those at the next rung, which is soon known. So it begins bold: to stop too many
at first costs a few draws, of which a search where early values tell little needs many anyway, and
to stop too few costs whole trials. If ranks are those of a bivariate normal, a trial among the best
`BEST` in the end is below the quantile q of a rung with probability
P(q) = Phi((Phi^-1(q) - rho m) / sqrt(1 - rho^2)), where m is the mean of the best. Those below q are
stopped, and q is what brings one of the best to its end soonest: it makes (a + (1 - q) b) / (1 - P(q))
least, where a is the mean time of a draw up to the rung and b that of the rest of a trial (times
`LATER`, since later rungs stop some, too). But P(q) is at most `RISK`, and q at most 1 - 1/`FACTOR`.

A trial is judged at a rung, and again whenever it is an `AGAIN`th further, at all rungs that it
passed: who came there among the first is soon seen among many. So where early values tell nothing
(rho near 0) hardly any trial is stopped, and where they tell all, one of eight goes on at each rung,
and hardly one runs on because it was early. NaN is stopped at once. `benchmarks/schedulers.py`
measures it beside others; docs/schedulers-compared.md says how its constants were chosen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from math import atanh, inf, sqrt, tanh
from statistics import NormalDist, fmean

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result, Why
from overtone.core.view import View
from overtone.schedulers.arguments import checked

FACTOR = 8.0
"""At least one of so many goes on at a rung."""

RISK = 0.3
"""At most this share of the best may be lost at a rung."""

LATER = 0.3
"""The share of its remaining time that a trial which goes on is thought to run."""

AGAIN = 8
"""A trial is judged again whenever it is as much further as 1 in so many."""

BEST = 0.02
"""Which share of all trials counts as the best."""

RHO = 0.8
"""The correlation that is believed before any trial has ended."""

N_NEWEST = 64
"""By so many newest trials a rung is compared with the next one, and with the end."""

PRIOR = 2.0
"""How many observations that counts for."""

_NORMAL = NormalDist()
_QUANTILES = [0.001, *(i / 40 for i in range(1, 40)), 0.98, 0.99]
_MEAN_OF_BEST = _NORMAL.pdf(_NORMAL.inv_cdf(1 - BEST)) / BEST


@checked
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
        self._view, self._n_stopped, self._n_ended = view, 0, 0
        self._rungs: list[list[float]] = []  # of each rung, the best scores until there of all that came
        self._values: list[list[float]] = []  # the same of their scores there
        self._steps: list[deque[tuple[float, float]]] = []  # of each rung, scores there and at the next one
        self._newest: dict[str, float] = {}  # of each trial that runs, its score at its last rung
        self._gone: list[int] = []  # of each rung, how many were stopped below it, and count as worse
        self._paths: dict[str, list[float]] = {}  # of each trial that runs, its best score until each rung
        self._seen: dict[str, float] = {}  # and where it was judged
        self._ended: deque[tuple[float, list[float], float]] = deque(
            maxlen=N_NEWEST
        )  # length, path and final score of those that ran to their end
        self._known: dict[int, tuple[int, int, float, float]] = {}  # of each rung, how long rho and q hold

    def on_trial_add(self, trial: Trial) -> None:
        self._paths.setdefault(trial.id, [])

    def next_decision(self, trial: Trial) -> float:
        seen = self._seen.get(trial.id, 0.0)
        return min(float(2 ** len(self._paths[trial.id])), seen * (1 + 1 / AGAIN)) if seen else 1.0

    def on_result(self, trial: Trial, result: Result) -> Decision:
        path, best = self._paths[trial.id], (trial.best or result).score
        self._seen[trial.id] = result.t
        while 2 ** len(path) <= result.t < inf:
            self._enter(trial.id, len(path), best, result.score)
            path.append(best)
        if result.score == WORST:
            return Stop(Why("auto", result.t, note="the metric is NaN"))
        whys = (self._against(k, score, result.t) for k, score in reversed([*enumerate(path)]))
        why = next((one for one in whys if one is not None), None)
        return CONTINUE if why is None else Stop(why)

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if isinstance(decision, Stop) and decision.why is not None and decision.why.rule == "auto":
            self._n_stopped += 1
            for k in range(len(self._paths[trial.id]), len(self._gone)):
                self._gone[k] += 1

    def on_trial_end(self, trial: Trial) -> None:
        path = self._paths.pop(trial.id)
        self._newest.pop(trial.id, None)
        self._seen.pop(trial.id, None)
        is_whole = trial.status is Status.TERMINATED and not (trial.why and trial.why.rule == "auto")
        if is_whole and trial.last is not None and trial.best is not None and path:
            self._ended.append((trial.last.t, path, trial.best.score))
            self._n_ended += 1

    def describe(self) -> str:
        shown = ", ".join(f"{2**k}: {self._rho(k):.2f}" for k in range(len(self._rungs)))
        return f"Using auto: num_stopped={self._n_stopped}\nCorrelation with the end: {shown or 'unknown'}"

    def _enter(self, trial_id: str, k: int, best: float, score: float) -> None:
        """A trial came to rung k."""
        if k == len(self._rungs):
            self._rungs.append([])
            self._values.append([])
            self._steps.append(deque(maxlen=N_NEWEST))
            self._gone.append(self._n_stopped)
        insort(self._rungs[k], best)
        insort(self._values[k], score)
        if k:
            self._steps[k - 1].append((self._newest[trial_id], score))
        self._newest[trial_id] = score

    def _against(self, k: int, score: float, t: float) -> Why | None:
        """What speaks against a trial with this score at rung k, after all that came there since."""
        rho, q = self._bar(k)
        scores, gone = self._rungs[k], self._gone[k]
        n, place = len(scores), bisect_right(scores, score)  # equals are as good as the best of them
        share = min((q * (n + gone) - gone) / n, 1 - 1 / FACTOR)
        if place > share * n:
            return None
        bar, rank, note = scores[int(share * n)], n - place + 1, f"rho={rho:.2f}"
        if t == 2**k:
            return Why("auto", t, 2**k, bar, rank, n, note=note)
        had, took = (f"{self._view.goal.value(one):.4g}" for one in (score, bar))
        told = f"its {had} there is number {rank} of {n} by now, it took {took}"
        return Why("auto", t, 2**k, note=f"{told}; {note}")

    def _bar(self, k: int) -> tuple[float, float]:
        """rho and q, computed again as soon as an eighth more is known, and not for each report."""
        n, m = len(self._rungs[k]), self._n_ended
        known = self._known.get(k)
        if known is None or n >= known[0] or m >= known[1]:
            rho = self._rho(k)
            known = self._known[k] = (n + n // 8 + 1, m + m // 8 + 1, rho, self._soonest(k, rho))
        return known[2], known[3]

    def _soonest(self, k: int, rho: float) -> float:
        """The quantile of rung k above which trials go on."""
        spread = sqrt(1 - rho**2)
        most = _NORMAL.cdf(rho * _MEAN_OF_BEST + spread * _NORMAL.inv_cdf(RISK))
        came = [len(rung) / (len(rung) + gone) for rung, gone in zip(self._rungs, self._gone, strict=True)]
        lengths = [1.0, *(2.0**j / 2 for j in range(1, k + 1))]
        spent = sum(share * length for share, length in zip(came, lengths, strict=False))
        here = 2.0**k
        rest = LATER * max(self._end(here) - here, 0.0)

        def time(q: float) -> float:
            survives = 1 - _NORMAL.cdf((_NORMAL.inv_cdf(q) - rho * _MEAN_OF_BEST) / spread)
            return (spent + (1 - q) * rest) / survives

        return min(most, min(_QUANTILES, key=time))

    def _end(self, t: float) -> float:
        """How long trials are: the median of those that ended; before one has, nine times `t`."""
        lengths = sorted(length for length, _, _ in self._ended)
        return lengths[len(lengths) // 2] if lengths else 9 * t

    def _rho(self, k: int) -> float:
        """The correlation of ranks at rung k with ranks in the end."""
        prior = max(RHO, min(0.95, sqrt(2**k / self._end(2.0**k))))
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
