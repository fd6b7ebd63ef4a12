"""Ranks of trials at rungs, how well they predict final ranks, and the cutoffs that follow from that."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass, field
from itertools import takewhile
from math import atanh, inf, sqrt, tanh
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

CAUTION = 0.5
"""By how many standard errors a correlation is lowered."""

RECENT = 64
"""How many of the newest trials are kept as evidence, at each rung and at the end."""

LATER_RUNG = 4.0
"""The largest number of observations for which a comparison with a later rung counts."""

_QUANTILES = [0.001, *(i / 40 for i in range(1, 40)), 0.98, 0.99]
_MEAN_OF_BEST = NORMAL.pdf(NORMAL.inv_cdf(1 - BEST)) / BEST


@dataclass(slots=True)
class Run:
    """A trial: `t` in units, best scores until each rung, `weight` 1 over its chance to be run whole."""

    path: list[float] = field(default_factory=list)
    t: float = 0.0
    final: float = WORST
    is_drawn: bool = False
    is_exempt: bool = False
    chance: float = 1.0
    weight: float = 1.0
    era: int = 0


class EarlyRanks:
    """The trials at rungs 1, 2, 4, ..., and the cutoff of each rung: see `AutoScheduler`.

    Args:
        caution: By how many standard errors a correlation is lowered.

    Attributes:
        rungs: Sorted scores of the trials that reached each rung.
        length: Median length of the trials that ended, in units.
        longest: Maximum length of the trials that ended, in units.
        n_ended: Number of trials that ran to their end.
        n_stopped: Number of trials that were stopped.
    """

    def __init__(self, caution: float) -> None:
        self.rungs: list[list[float]] = []
        self.length = self.longest = 0.0
        self.n_ended = self.n_stopped = 0
        self._caution = caution
        self._gone: list[int] = []  # Number of trials stopped below each rung; they count as worse.
        self._came: list[deque[tuple[list[float], float]]] = []  # Paths and weights of newcomers.
        self._ended: deque[Run] = deque(maxlen=RECENT)
        self._bars: dict[int, tuple[int, int, float, float]] = {}

    def enter(self, run: Run, best: float) -> None:
        """Record the rungs that a trial reached, with its best score so far."""
        while 2 ** len(run.path) <= run.t:
            k = len(run.path)
            if k == len(self.rungs):
                self.rungs.append([])
                self._gone.append(self.n_stopped)
                self._came.append(deque(maxlen=RECENT))
            insort(self.rungs[k], best)
            run.path.append(best)
            self._came[k].append((run.path.copy(), run.weight))

    def stop(self, run: Run) -> None:
        """Count a trial that is stopped as worse than those that reach later rungs."""
        self.n_stopped += 1
        for k in range(len(run.path), len(self._gone)):
            self._gone[k] += 1

    def end(self, run: Run) -> None:
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

    def bar(self, k: int) -> tuple[float, float]:
        """Return rho and the quantile of the cutoff, computed again when an eighth more is known."""
        n, m = len(self.rungs[k]), self.n_ended
        bar = self._bars.get(k)
        if bar is None or n >= bar[0] or m >= bar[1]:
            rho = self.rho(k)
            q = self._soonest(k, rho) if rho > 0 else 0.0
            bar = self._bars[k] = (n + n // 8 + 1, m + m // 8 + 1, rho, q)
        return bar[2], bar[3]

    def _soonest(self, k: int, rho: float) -> float:
        """Return the quantile of rung k that completes one of the best soonest."""
        spread = sqrt(1 - rho**2)
        most = NORMAL.cdf(rho * _MEAN_OF_BEST + spread * NORMAL.inv_cdf(RISK))
        lengths = [1.0, *(2.0**j / 2 for j in range(1, k + 1))]
        came = [len(rung) / (len(rung) + gone) for rung, gone in zip(self.rungs, self._gone, strict=True)]
        spent = sum(share * length for share, length in zip(came, lengths, strict=False))
        rest = max(self.length - 2.0**k, 0.0)

        def time(q: float) -> float:
            kept = 1 - NORMAL.cdf((NORMAL.inv_cdf(q) - rho * _MEAN_OF_BEST) / spread)
            return (spent + (1 - q) * rest) / max(kept, 1e-9)

        return min(most, min(_QUANTILES, key=time))

    def rho(self, k: int) -> float:
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
        end = self.length or inf
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
        return normal_score(self.rungs[k], score, self._gone[k])
