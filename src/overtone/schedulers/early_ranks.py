"""Ranks of trials at rungs, how well they predict final ranks, and the cutoffs that follow from that."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass, field
from math import atanh, log2, sqrt, tanh
from statistics import median_high

from overtone.core.types import WORST
from overtone.schedulers.normal_scores import (
    NORMAL,
    normal_score,
    weighted_correlation,
    weighted_normal_scores,
)

BEST = 0.01
"""The share of trials that counts as the best when a cutoff is chosen."""

RISK = 0.3
"""The largest predicted share of the best that a cutoff may lose."""

FACTOR = 8.0
"""At least one of this many trials continues at each rung."""

RECENT = 64
"""Number of newest trials kept as evidence, at each rung and at the end."""

STEPS = 4.0
"""The largest number of observations for which the correlations of successive rungs count."""

LEAST_AT_RUNG = 3
"""The least number of trials at a rung from which a correlation with the rung before is estimated."""

UNSEEN = 4.0
"""Until a trial ended, trials are assumed to be this many times as long as the furthest trial."""

_QUANTILES = [0.001, *(i / 40 for i in range(1, 40)), 0.98, 0.99]
_MEAN_OF_BEST = NORMAL.pdf(NORMAL.inv_cdf(1 - BEST)) / BEST


@dataclass(slots=True)
class TrialRun:
    """A trial: `t` in units, best scores until each rung, `weight` 1 over its chance to be run whole.

    `is_aside` is True while it is stopped or paused.
    """

    path: list[float] = field(default_factory=list)
    t: float = 0.0
    final: float = WORST
    is_drawn: bool = False
    is_exempt: bool = False
    chance: float = 1.0
    weight: float = 1.0
    era: int = 0
    is_aside: bool = False


class EarlyRanks:
    """The trials at rungs 1, 2, 4, ..., and the cutoff of each rung: see `AutoScheduler`.

    Args:
        caution: Number of standard errors by which a correlation is lowered; may change at any time.

    Attributes:
        rungs: Sorted scores of the trials that reached each rung.
        length: Median length of the trials that ended, in units.
        longest: Maximum length of the trials that ended, in units.
        furthest: Maximum t of all trials, in units.
        n_ended: Number of trials that ran to their end.
        n_aside: Number of trials that are stopped or paused.
    """

    def __init__(self, caution: float) -> None:
        self.rungs: list[list[float]] = []
        self.length = self.longest = self.furthest = 0.0
        self.n_ended = self.n_aside = 0
        self.caution = caution
        self._gone: list[int] = []  # Number of trials set aside below each rung; they count as worse.
        self._came: list[deque[tuple[list[float], float]]] = []  # Paths and weights of newcomers.
        self._ended: deque[TrialRun] = deque(maxlen=RECENT)
        self._bars: dict[tuple[int, float], tuple[int, int, float, float]] = {}
        self._steps: dict[int, tuple[int, float, float]] = {}

    def enter(self, run: TrialRun, best: float) -> None:
        """Record the rungs that a trial reached, with its best score so far."""
        self.furthest = max(self.furthest, run.t)
        while 2 ** len(run.path) <= run.t:
            k = len(run.path)
            if k == len(self.rungs):
                self.rungs.append([])
                self._gone.append(self.n_aside)
                self._came.append(deque(maxlen=RECENT))
            insort(self.rungs[k], best)
            run.path.append(best)
            self._came[k].append((run.path.copy(), run.weight))

    def set_aside(self, run: TrialRun) -> None:
        """Count a trial that is stopped or paused as worse than those that reach later rungs."""
        self._count_aside(run, 1)

    def take_back(self, run: TrialRun) -> None:
        """Count a paused trial no longer as worse, since it goes on."""
        self._count_aside(run, -1)

    def _count_aside(self, run: TrialRun, n: int) -> None:
        self.n_aside += n
        run.is_aside = n > 0
        for k in range(len(run.path), len(self._gone)):
            self._gone[k] += n

    def end(self, run: TrialRun) -> None:
        """Record a trial that ran to its end."""
        self.n_ended += 1
        self._ended.append(run)
        self.length = median_high(one.t for one in self._ended)
        self.longest = max(self.longest, run.t)

    def is_below(self, k: int, score: float) -> bool:
        """Return whether a score is below the cutoff of rung k. Equal scores all rank as the best of them."""
        _, q = self.bar(k)
        return q > _QUANTILES[0] and bisect_right(self.rungs[k], score) <= self.n_below(k, q)

    def n_below(self, k: int, q: float) -> float:
        n, gone = len(self.rungs[k]), self._gone[k]
        return min(q * (n + gone) - gone, (1 - 1 / FACTOR) * n)

    @property
    def likely_length(self) -> float:
        """The expected length of a trial, in units."""
        return self.length or UNSEEN * self.furthest

    def bar(self, k: int) -> tuple[float, float]:
        """Return rho and the quantile of the cutoff, computed again when an eighth more is known."""
        n, m = sum(map(len, self.rungs[k:])), self.n_ended
        bar = self._bars.get((k, self.caution))
        if bar is None or n >= bar[0] or m >= bar[1]:
            rho = self.rho(k)
            q = self._soonest(k, rho) if rho > 0 else 0.0
            bar = self._bars[k, self.caution] = (n + n // 8 + 1, m + m // 8 + 1, rho, q)
        return bar[2], bar[3]

    def believed(self, k: int) -> float:
        """Return the correlation behind the present cutoff of rung k, or 0, without computing it again."""
        bar = self._bars.get((k, self.caution))
        return bar[2] if bar is not None else 0.0

    def _soonest(self, k: int, rho: float) -> float:
        """Return the quantile of rung k that completes one of the best soonest."""
        spread = sqrt(1 - rho**2)
        most = NORMAL.cdf(rho * _MEAN_OF_BEST + spread * NORMAL.inv_cdf(RISK))
        lengths = [1.0, *(2.0**j / 2 for j in range(1, k + 1))]
        came = [len(rung) / (len(rung) + gone) for rung, gone in zip(self.rungs, self._gone, strict=True)]
        spent = sum(share * length for share, length in zip(came, lengths, strict=False))
        rest = max(self.likely_length - 2.0**k, 0.0)

        def time(q: float) -> float:
            kept = 1 - NORMAL.cdf((NORMAL.inv_cdf(q) - rho * _MEAN_OF_BEST) / spread)
            return (spent + (1 - q) * rest) / max(kept, 1e-9)

        return min(most, min(_QUANTILES, key=time))

    def rho(self, k: int) -> float:
        """Return the correlation of ranks at rung k with final ranks, lowered by its uncertainty."""
        z, n = self._seen_at_end(k)
        drifted, size = self._drift(k)
        if not size:
            return max(0.0, tanh(z * n / (n + 2.0) - self.caution / sqrt(n))) if n else 0.0
        z = (z * n + drifted * size) / (n + size)
        return max(0.0, tanh(z - self.caution / sqrt(n + size)))

    def _seen_at_end(self, k: int) -> tuple[float, float]:
        """Return Fisher's z of the correlation with the ends of trials, and how many observations it has."""
        runs = [run for run in self._ended if len(run.path) > k]
        if len(runs) < 2:
            return 0.0, 0.0
        weights = [run.weight for run in runs]
        y = weighted_normal_scores([run.final for run in runs], weights)
        r, size = weighted_correlation([self._z(k, run.path[k]) for run in runs], y, weights)
        return atanh(r), max(0.0, size - 1)

    def _drift(self, k: int) -> tuple[float, float]:
        """Return Fisher's z of the correlation with the end that successive rungs imply, and its weight.

        Ranks are a Markov chain: correlations multiply. Steps that no trial made yet are like the others.
        """
        z = n = 0.0
        r, last = 1.0, k
        for j in range(k, int(log2(max(self.likely_length, 1.0)) + 1e-9)):
            one, size = self._step(j)
            if not size:
                break
            r, last = r * max(0.0, tanh(one)), j + 1
            z, n = z + one * size, n + size
        if not n:
            return 0.0, 0.0
        r *= max(0.0, tanh(z / n)) ** max(0.0, log2(self.likely_length / 2.0**last))
        return atanh(min(r, 0.99)), min(STEPS, n)

    def _step(self, j: int) -> tuple[float, float]:
        """Return Fisher's z of the correlation of rungs j and j + 1, and how many observations it has."""
        n = len(self.rungs[j + 1]) if j + 1 < len(self.rungs) else 0
        if n < LEAST_AT_RUNG:
            return 0.0, 0.0
        step = self._steps.get(j)
        if step is None or n >= step[0]:
            came = self._came[j + 1]
            x, y = ([self._z(rung, path[rung]) for path, _ in came] for rung in (j, j + 1))
            r, size = weighted_correlation(x, y, [weight for _, weight in came])
            step = self._steps[j] = (n + n // 8 + 1, atanh(r) * size / (size + 1), size)
        return step[1], step[2]

    def _z(self, k: int, score: float) -> float:
        return normal_score(self.rungs[k], score, self._gone[k])
