"""The engine's state of each node, and of each attempt with its part on each node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from overtone.core.messages import Ended, Start
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
        sees_disk: Whether the node sees the driver's disk, as its newest agent or trial says.
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
    sees_disk: bool = True
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
        line: Connection to the actor, or to the node's agent.
        actor: The actor, if this is the head of a trial that uses Ray; otherwise None.
        pid: The head's process, if it is here; 0 until it has started.
        is_sent: Whether the processes were told to start, and have not ended.
        has_ranks: Whether ranks were sent there, and are not all gone.
        pids: The processes of the ranks there that run.
        unsent: Orders that wait until the actor or the agent has called.
    """

    attempt: RayAttempt
    node: Node
    line: Line | None = None
    actor: Any = None
    pid: int = 0
    is_sent: bool = False
    has_ranks: bool = False
    pids: tuple[int, ...] = ()
    unsent: list[Any] = field(default_factory=list)

    def kill(self) -> None:
        """Kill the processes, if there are any."""
        if self.actor is not None:
            agents.end(self.actor)
        elif self.is_sent and self.line is not None and self.line.is_open:
            self.line.put(("kill", self.attempt.start.trial_id))


@dataclass(eq=False)
class RayAttempt:
    """One attempt of a trial: its head on one node, and its ranks on the nodes of their bundles.

    Attributes:
        start: The Start of the attempt; its placement names the lease's nodes once there is a lease.
        name: Name of the trial for people.
        head: The part that reports for the attempt.
        lease: The lease of the attempt; None until Ray has granted it.
        parts: The parts of the attempt that still run, the head first.
        was_killed: Error text if the actor ends without an `ended` message after a Halt; "" before.
        results: The check of the results.
        generation: The generation of the ranks that were made last.
        awaits_end: Whether the head waits until no rank is left.
        ended: How the attempt ended, once it is over, until its last part is gone.
        is_lost: Whether a node of the attempt was lost, so that its lease is not used again.
    """

    start: Start
    name: str
    head: NodePart = field(init=False)
    lease: Lease | None = None
    parts: list[NodePart] = field(default_factory=list)
    was_killed: str = ""
    results: ResultCheck = field(default_factory=ResultCheck)
    generation: int = 0
    awaits_end: bool = False
    ended: Ended | None = None
    is_lost: bool = False

    def place(self, nodes: Sequence[Node]) -> None:
        """Put the attempt's head on the node of its first bundle, given the node of each bundle."""
        names = tuple([node.name for node in nodes])
        if names != self.start.placement.nodes:
            self.start = replace(self.start, placement=replace(self.start.placement, nodes=names))
        self.head = NodePart(self, nodes[0])
        self.parts = [self.head]

    def equipped(self) -> Start:
        """Return the Start of the head, with the accelerators that Ray has given to the lease."""
        devices = self.lease.devices_of_trial() if self.lease is not None else None
        return self.start if devices is None else replace(self.start, devices=devices)

    def part_on(self, node: Node) -> NodePart | None:
        """Return the part of the attempt below a node's agent; None if there is none."""
        return next((part for part in self.parts if part.node is node and part.actor is None), None)

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
