"""The ranks of attempts on a cluster: each runs below the agent of the node that holds its bundle.

The head's request comes to the driver, which alone knows the node and the accelerators of each
bundle of a lease. A node without the head runs its ranks as a part of the attempt. A rank's death
ends the attempt there, and the driver ends it on the other nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.engines.ray.state import Node, NodePart, RayAttempt
from overtone.errors import MessageError, ResourceError
from overtone.worker.gang.plan import GangPlan, RankOrder, rank_orders
from overtone.worker.message_codec import Message
from overtone.worker.protocol import RanksGone

MESSAGES = frozenset({"make_ranks", "end_ranks", "rank_pids", "ranks_gone"})
"""The messages about ranks: requests of heads, and what nodes tell of their ranks."""


class Gangs:
    """Makes and ends the ranks of attempts, at the request of their heads.

    Args:
        nodes: Returns the nodes of the cluster, by name.
        put: Sends an order to a part of an attempt, now or when its node's agent has called.
    """

    def __init__(self, nodes: Callable[[], Mapping[str, Node]], put: Callable[[NodePart, Any], None]) -> None:
        self._nodes, self._put = nodes, put

    def take(self, part: NodePart, message: Message) -> None:
        """Handle one of MESSAGES."""
        kind, attempt = message[0], part.attempt
        if kind == "rank_pids":
            part.pids = tuple(message[3])
        elif kind == "ranks_gone":
            self._on_gone(part, *message[3:])
        elif part is not attempt.head:
            raise MessageError(f"{kind!r} of a rank")
        elif kind == "make_ranks":
            self._start(attempt, GangPlan(*message[3:]))
        else:
            attempt.awaits_end = True
            self._end(attempt)
            self._answer_end(attempt)

    def _start(self, attempt: RayAttempt, plan: GangPlan) -> None:
        """Send all ranks of a plan to their nodes; if they cannot be made, tell the head why."""
        if any(part.has_ranks for part in attempt.parts):
            raise MessageError("it asks for ranks while it has ranks")
        assert attempt.lease is not None
        attempt.generation = plan.generation
        nodes = self._nodes()
        by_node: dict[Node, list[RankOrder]] = {}
        try:
            for order in rank_orders(attempt.start, plan, attempt.lease.devices_of):
                by_node.setdefault(nodes[order.start.placement.nodes[0]], []).append(order)
        except ResourceError as error:
            self._answer(attempt, str(error))
        except KeyError:
            return  # a node is gone: the end of the attempt follows
        for node, orders in by_node.items():
            part = attempt.part_on(node)
            if part is None:
                part = NodePart(attempt, node)
                attempt.parts.append(part)
            part.has_ranks = True
            self._put(part, ("start_ranks", orders, part is attempt.head))

    def _on_gone(self, part: NodePart, generation: int, error: str) -> None:
        """Note that a part has no ranks any more; all or none: if it made none, the others end as well."""
        attempt = part.attempt
        if generation != attempt.generation or not part.has_ranks:
            return
        part.has_ranks, part.pids = False, ()
        if part is not attempt.head:
            attempt.parts.remove(part)
        if error:
            self._answer(attempt, error)
            self._end(attempt)
        self._answer_end(attempt)

    def _end(self, attempt: RayAttempt) -> None:
        """Kill the ranks of an attempt on all its nodes."""
        about = attempt.start.trial_id, attempt.start.attempt, attempt.generation
        for part in attempt.parts:
            if part.has_ranks:
                self._put(part, ("end_ranks", *about))

    def _answer_end(self, attempt: RayAttempt) -> None:
        """Tell the head that no rank is left, if it waits for that."""
        if attempt.awaits_end and not any(part.has_ranks for part in attempt.parts):
            attempt.awaits_end = False
            self._answer(attempt)

    def _answer(self, attempt: RayAttempt, error: str = "") -> None:
        about = attempt.start.trial_id, attempt.start.attempt, attempt.generation
        self._put(attempt.head, RanksGone(*about, error))
