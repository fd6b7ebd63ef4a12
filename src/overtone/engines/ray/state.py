"""The engine's state of each node, and of each attempt with its part on each node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from overtone.core.messages import Start
from overtone.engines.message_check import ResultCheck
from overtone.engines.ray import agents
from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.connection import Line
from overtone.engines.ray.lease import Lease

MOST_FAILURES = 3
"""Number of agents in a row that end before their first message, after which a node is not used."""


@dataclass(eq=False)
class Node:
    """The state of one node.

    Attributes:
        name: Name in events: the IP address, or "address#2" for a second node at the same address.
        facts: Facts of the last look.
        line: Connection to the node's agent; None while there is none.
        agent: The agent's (actor, reference); None if no agent was started.
        is_lost: Whether Ray does not count the node as alive any more.
        has_called: Whether the newest agent has called the driver.
        is_doubtful: Whether the agent was lost, and no other agent has called since.
        failures: Number of failed agents in a row.
        error: Error text of the last failed agent, until another agent calls.
        largest: (trial_id, attempt, memory use as text) of the trial that uses the most memory there.
        idle_since: Time since which the node has no trial, on the monotonic clock; 0 if it has one.
    """

    name: str
    facts: NodeFacts
    line: Line | None = None
    agent: Any = None
    is_lost: bool = False
    has_called: bool = False
    is_doubtful: bool = False
    failures: int = 0
    error: str = ""
    largest: tuple[str, int, str] | None = None
    idle_since: float = 0.0

    @property
    def id(self) -> str:
        """Ray's id of the node."""
        return self.facts.id

    @property
    def is_usable(self) -> bool:
        """True if trials may be placed on the node now."""
        return self.is_hopeful and not self.is_doubtful and not self.is_leaving

    @property
    def is_leaving(self) -> bool:
        """True if Ray drains the node."""
        return self.facts.leaves_in_s is not None

    @property
    def is_hopeful(self) -> bool:
        """True if trials may be placed on the node now, or once its agent has called."""
        return not self.is_lost and not self.is_broken

    @property
    def is_broken(self) -> bool:
        """True if too many agents in a row have failed on the node."""
        return self.failures >= MOST_FAILURES


@dataclass(eq=False)
class NodePart:
    """The part of an attempt on one node: processes below the node's agent, or an actor.

    Attributes:
        attempt: The attempt.
        node: The node of the processes.
        ranks: The ranks that the processes run.
        line: Connection to the actor, or to the node's agent.
        actor: The actor, if the trial uses Ray; otherwise None.
        is_sent: Whether the processes were told to start, and have not ended.
        unsent: Orders that wait until the actor has called.
    """

    attempt: RayAttempt
    node: Node
    ranks: tuple[int, ...]
    line: Line | None = None
    actor: Any = None
    is_sent: bool = False
    unsent: list[Any] = field(default_factory=list)

    def equipped(self) -> Start:
        """Return the Start of this part, with the accelerators that Ray has given to the lease."""
        start, lease = self.attempt.start, self.attempt.lease
        devices = lease.devices if lease is not None else None
        if devices is None and self.ranks == start.ranks:
            return start
        return replace(start, devices=devices, ranks=self.ranks)

    def kill(self) -> None:
        """Kill the processes, if there are any."""
        if self.actor is not None:
            agents.end(self.actor)
        elif self.is_sent and self.line is not None and self.line.is_open:
            self.line.put(("kill", self.attempt.start.trial_id))


@dataclass(eq=False)
class RayAttempt:
    """One attempt of a trial.

    Attributes:
        start: The Start of the attempt.
        name: Name of the trial for people.
        lease: The lease of the attempt; None until Ray has granted it.
        parts: The parts of the attempt that still run, by node. The first one reports for the attempt.
        was_killed: Error text if the actor ends without an `ended` message after a Halt; "" before.
        results: The check of the results.
    """

    start: Start
    name: str
    lease: Lease | None = None
    parts: list[NodePart] = field(default_factory=list)
    was_killed: str = ""
    results: ResultCheck = field(default_factory=ResultCheck)

    def place(self, nodes: Sequence[Node]) -> None:
        """Divide the attempt into parts, given the node of each bundle; each rank runs in its bundle."""
        ranks: dict[Node, tuple[int, ...]] = {}
        for rank in self.start.ranks:
            ranks[nodes[rank]] = (*ranks.get(nodes[rank], ()), rank)
        self.parts = [NodePart(self, node, ranks[node]) for node in ranks]

    def kill(self) -> None:
        """Kill all processes of the attempt."""
        for part in self.parts:
            part.kill()


def name_of(ip: str, taken: Iterable[str]) -> str:
    """Return a name for a node at this address that is not taken."""
    names = set(taken)
    if ip not in names:
        return ip
    return next(name for name in (f"{ip}#{n}" for n in range(2, len(names) + 3)) if name not in names)
