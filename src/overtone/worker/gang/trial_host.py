"""The ranks of a gang whose head is a trial: its engine makes them in the trial's bundles."""

from __future__ import annotations

from overtone.worker.gang.host import RankHost
from overtone.worker.gang.places import bundles_of_ranks
from overtone.worker.gang.plan import GangPlan, nodes_of
from overtone.worker.session.session import Session


class TrialHost(RankHost):
    """Asks the engine of a trial for ranks.

    Args:
        session: The trial's session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._generation: int | None = None
        self._failure = ""

    def start(self, plan: GangPlan) -> None:
        """Ask for the processes of all ranks, and return at once.

        Raises:
            ResourceError: The trial has too few bundles.
            GangError: The trial has ranks already, or its engine runs none.
        """
        bundles_of_ranks(len(self._session.placement.nodes), plan.num_workers)
        self._session.begin_ranks(plan.generation, plan.num_workers, plan.address, plan.token)
        self._generation, self._failure = plan.generation, ""

    def failure(self) -> str:
        if self._generation is not None and not self._failure:
            self._failure = self._session.why_no_ranks()
        return self._failure

    def end(self) -> None:
        if self._generation is not None:
            self._session.end_ranks(self._generation)
            self._generation = None

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(nodes_of(self._session.placement)))
