"""What a simulated search used, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The bill of a simulated run.

    Attributes:
        time_s: How long it took, in virtual seconds.
        cost: The price of all machines for as long as they were there; 0.0 where they have none.
        machine_s: How long the machines were there, in sum.
        trial_s: How long trials had a process, in sum.
        trained_s: How long they trained in it, in sum: the rest was starting, saving and waiting.
        lost_s: Training that was lost with its process, and had to be done again or given up.
        n_starts: How often a trial was given a process.
        n_failures: How many of them failed.
        n_preempted: How many machines were taken away.
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
        """The part of all training that was lost, and so done twice where its trial went on."""
        return self.lost_s / self.trained_s if self.trained_s else 0.0

    def as_data(self) -> dict[str, float]:
        """All of it by name, as `ExperimentAnalysis.account` has it."""
        return {**asdict(self), "redone_share": self.redone_share}
