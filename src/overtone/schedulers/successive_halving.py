"""Successive halving (Jamieson & Talwalkar 2016, "Non-stochastic Best Arm Identification and
Hyperparameter Optimization", arXiv 1502.07943), as Algorithm 1 of the ASHA paper has it.

All trials of a bracket run to the first rung, grace_period, and pause; when the last has come, the
best 1/reduction_factor go on to the next rung, which is reduction_factor times as far, and the
others end. Further trials make further brackets of the same kind.

Deviations: trials go on from their checkpoints. At a rung that n began floor(n / eta) go on, at
least one. A bracket that the end of the search leaves unfilled is halved as it is.
"""

from __future__ import annotations

from overtone.errors import ArgumentError
from overtone.schedulers.arguments import checked
from overtone.schedulers.brackets import Brackets
from overtone.schedulers.rungs import milestones


@checked
class SuccessiveHalving(Brackets):
    """Halves brackets of `n` trials, each as a whole.

    Args:
        max_t: Maximum time per trial, in units of `time_attr`.
        grace_period: The first rung.
        reduction_factor: The share of trials that continue is its inverse.
        n: Number of trials in a bracket. Default: the number of which one reaches max_t.
        stop_last_trials: Whether a trial ends at max_t.

    Raises:
        ValueError: `grace_period` is below 1.
    """

    rule = "successive_halving"

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        max_t: int = 81, grace_period: int = 1, reduction_factor: float = 3, n: int | None = None,
        stop_last_trials: bool = True,
    ) -> None:  # fmt: skip
        if grace_period < 1:
            raise ArgumentError(f"grace_period={grace_period}: rungs are whole numbers here: give 1 or more")
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self.eta, self.stops_last = reduction_factor, stop_last_trials
        rungs = [*map(int, milestones(grace_period, max_t, reduction_factor)), max_t]
        size = n or int(reduction_factor ** (len(rungs) - 1))
        self.plans = [[(max(1, int(size // reduction_factor**k)), t) for k, t in enumerate(rungs)]]

    def describe(self) -> str:
        head = f"Using SuccessiveHalving: num_stopped={self.n_stopped} total_brackets={self.n_made}"
        return "\n".join([head, *(f"  {bracket}" for bracket in self.brackets)])
