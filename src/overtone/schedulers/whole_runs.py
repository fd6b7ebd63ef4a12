"""Whole runs: trials that are exempt from stopping, and what they say about the rule that stops others."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf
from random import Random

from overtone.schedulers.early_ranks import RECENT, EarlyRanks, TrialRun

LEAST_WHOLE = 0.05
"""The least share of time that goes to whole runs."""

SPENDING = 4.0
"""After n whole runs, their share of time is at least 1 / (1 / first_whole + SPENDING n)."""

MIN_ENDED = 2
"""The rule is tested once this many whole runs ended."""

AGAIN = 8
"""The rule is tested again when 1/AGAIN more trials are known."""

TOP = 4.0
"""The test of the rule asks whether it keeps the best of every TOP whole runs."""

BELIEVED, BELIEVED_KEPT = 2.0, 0.6
"""The test begins with this many trials among the best, of which the rule kept this share."""

UNSKILLED = 2.0
"""It also begins with this many of which the rule kept no larger share than of all trials."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Trust in early ranks, which decides how boldly trials are stopped.

    Attributes:
        caution: Number of standard errors by which a correlation is lowered.
        first_whole: Share of time of whole runs until MIN_ENDED of them ended.
        doubt: The share of time of whole runs is at least this over the estimated speed-up.
    """

    caution: float
    first_whole: float
    doubt: float


STOPPING = Trust(caution=1.0, first_whole=0.25, doubt=0.5)
"""For trials that end below a cutoff: what they did is lost."""

PAUSING = Trust(caution=0.25, first_whole=0.1, doubt=0.2)
"""For trials that are paused below a cutoff, and may go on."""


class WholeRuns:
    """Draws the exempt trials, and tests the rule on those that ended: see `AutoScheduler`.

    Args:
        ranks: The cutoffs of the rule.

    Attributes:
        grace: The first rung at which trials are stopped; infinite if none is.
        speedup: The estimated ratio of the rates at which the rule and random search find the best.
        n_ended: Number of exempt trials that ended.
        n_judged, judged_t: Number of the other trials that ended or wait, and their total length in units.
    """

    def __init__(self, ranks: EarlyRanks) -> None:
        self._ranks = ranks
        self.grace, self.speedup = 0.0, 1.0
        self.n_ended = self.n_judged = self._n_tested = 0
        self.judged_t = 0.0
        self.newest: deque[TrialRun] = deque(maxlen=RECENT)
        self._era = -1
        self._start_era()

    def _start_era(self) -> None:
        """Reset the counts of kept trials, since stopping starts at another rung."""
        self._era, self._era_n = self._era + 1, 0
        self._era_finals: list[float] = []

    def chance(self, trust: Trust) -> float:
        """Return the probability that a new trial is exempt. Exempt trials get their share of time by it."""
        share = trust.first_whole
        if self.n_ended >= MIN_ENDED:
            spent = share / (1 + SPENDING * share * self.n_ended)
            share = max(LEAST_WHOLE, spent, min(1.0, trust.doubt / self.speedup))
        if not self.n_judged:
            return share
        mean = self.judged_t / self.n_judged
        return share * mean / (max(mean, self._ranks.likely_length) * (1 - share) + share * mean)

    def draw(self, run: TrialRun, trust: Trust, random: Random) -> None:
        """Draw whether a new trial is exempt."""
        run.is_drawn, run.chance, run.era = True, self.chance(trust), self._era
        run.is_exempt = random.random() < run.chance

    def count(self, run: TrialRun, n: int = 1) -> None:
        """Count a trial that was stopped or paused; no longer if `n` is -1."""
        self.n_judged += n
        self.judged_t += n * run.t
        if run.era == self._era:
            self._era_n += n
        self._test_if_due()

    def end(self, run: TrialRun) -> None:
        """Record a trial that ran to its end."""
        if not run.is_exempt:
            if run.era == self._era:
                self._era_finals.append(run.final)
            self.count(run)
            return
        self.n_ended += 1
        self.newest.append(run)
        self._test_if_due()

    def _test_if_due(self) -> None:
        if self.n_ended + self.n_judged > self._n_tested * (1 + 1 / AGAIN):
            self._test()

    def _test(self) -> None:
        """Choose the rung at which stopping starts, by what the rule would have kept of whole runs."""
        self._n_tested = self.n_ended + self.n_judged
        runs = sorted(self.newest, key=lambda run: -run.final)
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
            if first == self.grace:
                n_kept += sum(final >= runs[n_top - 1].final for final in self._era_finals)
                n_best += self._era_n * n_top / (len(runs) + 1)
            n_kept += BELIEVED * max(BELIEVED_KEPT, time) + UNSKILLED * sum(kept) / len(runs)
            if (ratio := n_kept / (n_best + BELIEVED + UNSKILLED) / time) > speedup:
                speedup, grace = ratio, first
        self.speedup = speedup
        if grace != self.grace:
            self.grace = grace
            self._start_era()
