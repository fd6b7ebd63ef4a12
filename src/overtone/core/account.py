"""Resource use and cost of a simulated search."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """Resource use and cost of a simulated run.

    Attributes:
        time_s: Duration of the run, in virtual seconds.
        cost: Price of all machines while they were in the cluster; 0.0 if they have no price.
        machine_s: Total time of the machines in the cluster.
        trial_s: Total time in which trials had a process.
        trained_s: The part of `trial_s` spent on training; the rest is starting, saving and waiting.
        lost_s: Training time that was lost with a process, and was repeated or given up.
        n_starts: Number of times that a trial got a process.
        n_failures: Number of simulated failures of trial processes.
        n_preempted: Number of machines that were taken away.
    """

    time_s: float
    cost: float
    machine_s: float
    trial_s: float
    trained_s: float
    lost_s: float
    n_starts: int
    n_failures: int
    n_preempted: int

    @property
    def redone_share(self) -> float:
        """The share of all training time that was lost, and repeated if the trial continued."""
        return self.lost_s / self.trained_s if self.trained_s else 0.0

    def as_data(self) -> dict[str, float]:
        """Return all values by name, as in `ExperimentAnalysis.account`."""
        return {**asdict(self), "redone_share": self.redone_share}
