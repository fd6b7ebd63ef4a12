"""The seam between a gang's head and what makes the processes of its ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod

from overtone.worker.gang.plan import GangPlan


class RankHost(ABC):
    """Makes and ends the processes of ranks, for one head. Calls come from one thread."""

    @abstractmethod
    def start(self, plan: GangPlan) -> None:
        """Ask for the processes of all ranks, and return at once; `failure` says what became of it.

        The ranks of an earlier generation must have been ended.

        Raises:
            ResourceError: There are too few bundles for so many ranks.
        """

    @abstractmethod
    def failure(self) -> str:
        """Return how a rank's process ended, or why the ranks could not be made; "" while all is well.

        Never waits. Inside a trial the death of a rank ends the trial's attempt, with the head.
        """

    @abstractmethod
    def end(self) -> None:
        """Kill the ranks of the newest generation, and return when they are gone.

        Does nothing if there are none.
        """

    @abstractmethod
    def hosts(self) -> list[str]:
        """Return the names of the hosts of head and ranks, the head's first, each once.

        One name means that all run on the head's host.
        """
