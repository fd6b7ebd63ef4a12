"""What the engine knows of each node and of each trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from overtone.core.messages import Start
from overtone.engines.message_check import ResultCheck
from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.connection import Line
from overtone.engines.ray.lease import Lease

MOST_FAILURES = 3
"""So often in a row an agent may end before its first word; then its node is not used."""


@dataclass(eq=False)
class Node:
    """One node.

    Attributes:
        name: What it is called in events: its address, or "address#2" for another at the same.
        facts: As of the last look.
        line: To its agent; None while there is none.
        agent: The actor that was sent there.
        is_lost: Whether Ray has given it up.
        has_called: Whether the agent that was sent there last has called.
        is_doubtful: Whether its agent was lost, and no other one there has called since.
        failures: Of agents in a row.
        error: Of the last one, until another has called.
        largest: (trial's id, attempt, how much it uses) of the trial that used the most memory there.
        idle_since: Since when it has had no trial, on the monotonic clock; 0 for it has one.
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
        """Ray's."""
        return self.facts.id

    @property
    def is_usable(self) -> bool:
        """Whether trials may be placed there."""
        return self.is_hopeful and not self.is_doubtful and not self.is_leaving

    @property
    def is_leaving(self) -> bool:
        """Whether Ray drains it."""
        return self.facts.leaves_in_s is not None

    @property
    def is_hopeful(self) -> bool:
        """Whether trials may be placed there now, or once its agent has called."""
        return not self.is_lost and not self.is_broken

    @property
    def is_broken(self) -> bool:
        """Whether no agent stays there."""
        return self.failures >= MOST_FAILURES


@dataclass(eq=False)
class Trial:
    """One attempt of a trial.

    Attributes:
        start: What was asked for.
        name: For people.
        lease: What it holds; None while Ray has not given it.
        node: Where its process is.
        line: To its own actor, or to its node's agent.
        actor: Its own, where it uses Ray.
        is_sent: Whether its process was told to start.
        was_killed: What to say if it ends without a word, since it was told to halt.
        unsent: Orders until its own actor has called.
        results: Follows its results.
    """

    start: Start
    name: str
    lease: Lease | None = None
    node: Node | None = None
    line: Line | None = None
    actor: Any = None
    is_sent: bool = False
    was_killed: str = ""
    unsent: list[Any] = field(default_factory=list)
    results: ResultCheck = field(default_factory=ResultCheck)

    def equipped(self) -> Start:
        """Return the Start with the accelerators that Ray has given to its lease."""
        devices = self.lease.devices if self.lease is not None else None
        return self.start if devices is None else replace(self.start, devices=devices)


def name_of(ip: str, taken: Iterable[str]) -> str:
    """A name for a node at this address that is not taken."""
    names = set(taken)
    if ip not in names:
        return ip
    return next(name for name in (f"{ip}#{n}" for n in range(2, len(names) + 3)) if name not in names)
