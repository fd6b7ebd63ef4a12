"""HyperBand (Li et al. 2018, "Hyperband: A Novel Bandit-Based Approach to Hyperparameter
Optimization", JMLR 18(185), Algorithm 1).

Trials fill brackets. In each, all run to the first rung and pause; when the last has come, the
best 1/reduction_factor go on to the next rung, and the others end. The brackets of a round range
from many trials that are judged early to few that are never judged; then a new round begins.

Deviations: trials go on from their checkpoints. The sizes are those of Algorithm 1 (R = 81,
eta = 3: 81/34/15/8/5 trials) or, with sizes="table", of the paper's Table 1 (81/27/9/6/5). At a
rung that n began floor(n / eta) go on, at least one. Rungs are max_t // eta^k, in whole numbers. A
bracket that the end of the search leaves unfilled is halved as it is. Equals rank by age.
"""

from __future__ import annotations

from itertools import groupby
from math import inf, nextafter

from overtone.errors import ArgumentError
from overtone.schedulers.arguments import checked
from overtone.schedulers.brackets import Brackets, Plan
from overtone.schedulers.rungs import milestones


def plans(max_t: int, eta: float, sizes: str = "algorithm", grace_period: int = 1) -> list[Plan]:
    """Return the brackets of one round, the bracket with the most trials first.

    >>> plans(9, 3)
    [[(9, 1), (3, 3), (1, 9)], [(5, 3), (1, 9)], [(3, 9)]]
    >>> plans(9, 3, grace_period=2)
    [[(3, 3), (1, 9)], [(2, 9)]]
    """
    rungs = milestones(grace_period * eta, nextafter(max_t, inf), eta)
    s_max = len(rungs)  # the largest with grace_period * eta^s_max <= max_t
    found: list[Plan] = []
    for s in range(s_max, -1, -1):
        n = -(-(s_max + 1) * eta**s // (s + 1)) if sizes == "algorithm" else (s_max + 1) // (s + 1) * eta**s
        found.append([(int(n // eta**i), int(max_t // eta ** (s - i))) for i in range(s + 1)])
    return found


@checked
class HyperBandScheduler(Brackets):
    """Halves brackets of trials, each as a whole.

    Args:
        max_t: Maximum time per trial, in units of `time_attr`; R in the paper.
        reduction_factor: The share of trials that continue is its inverse; eta in the paper.
        grace_period: The minimum resource: no trial is stopped at a smaller t. A round has the brackets of
            R = max_t / grace_period, in units of grace_period.
        stop_last_trials: Whether a trial ends at max_t.
        sizes: Sizes of the brackets: "algorithm" (81/34/15/8/5 for R = 81, eta = 3) or "table" (81/27/9/6/5).

    Raises:
        ValueError: `grace_period` is below 1.
    """

    rule = "hyperband"

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        max_t: int = 81, reduction_factor: float = 3, stop_last_trials: bool = True, sizes: str = "algorithm",
        grace_period: int = 1,
    ) -> None:  # fmt: skip
        if grace_period < 1:
            raise ArgumentError(f"grace_period={grace_period}: rungs are whole numbers here: give 1 or more")
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self.eta, self.stops_last = reduction_factor, stop_last_trials
        self.plans = plans(max_t, reduction_factor, sizes, grace_period)

    def describe(self) -> str:
        lines = [f"Using HyperBand: num_stopped={self.n_stopped} total_brackets={self.n_made}"]
        for number, brackets in groupby(self.brackets, lambda one: (one.number - 1) // len(self.plans)):
            lines += [f"Round #{number}:", *(f"  {bracket}" for bracket in brackets)]
        return "\n".join(lines)
