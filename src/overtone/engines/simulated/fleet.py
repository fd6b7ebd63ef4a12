"""The machines of a simulated world: their presence, lifetimes and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from overtone.core.randomness import keyed
from overtone.engines.simulated.world import Machines


@dataclass(slots=True)
class FleetNode:
    """A machine that is currently in the cluster.

    Attributes:
        kind: The kind of machine.
        since: Time at which the machine joined.
        goes_at: Time at which the machine leaves; None if it stays.
        returns_at: Time at which a replacement joins; None for never.
        is_going: Whether notice was given: the machine takes no new trials.
    """

    kind: Machines
    since: float
    goes_at: float | None
    returns_at: float | None
    is_going: bool = False


class Fleet:
    """The machines and their cost.

    Args:
        kinds: Kind of each machine, by the machine's name.
        seed: Seed of all lifetimes.

    Attributes:
        nodes: Machines that are currently in the cluster, by name.
        n_preempted: Number of machines that were taken away.
        paid: Cost of the machines that are gone.
        paid_s: Machine-seconds of the machines that are gone.
    """

    def __init__(self, kinds: Mapping[str, Machines], seed: int) -> None:
        self.nodes: dict[str, FleetNode] = {}
        self.n_preempted = 0
        self.paid = self.paid_s = 0.0
        self._kinds = kinds
        self._seed = seed
        self._lives: dict[str, int] = {}

    def join(self, name: str, now: float) -> FleetNode:
        """Add a machine or its replacement, and draw its lifetime."""
        kind = self._kinds[name]
        life = self._lives[name] = self._lives.get(name, -1) + 1
        goes_at, returns_at = kind.leaves_s, None
        if kind.mean_life_s is not None:
            dies_at = now + keyed(self._seed, "life", name, life).expovariate(1 / kind.mean_life_s)
            if goes_at is None or dies_at < goes_at:
                goes_at = dies_at
                returns_at = None if kind.return_s is None else dies_at + kind.return_s
                if kind.leaves_s is not None and returns_at is not None and returns_at >= kind.leaves_s:
                    returns_at = None
        node = self.nodes[name] = FleetNode(kind, now, goes_at, returns_at)
        return node

    def go(self, name: str, now: float) -> FleetNode:
        """Remove a machine."""
        node = self.nodes.pop(name)
        self.n_preempted += 1
        self.paid += self._price(node, now)
        self.paid_s += now - node.since
        return node

    def capacity(self) -> dict[str, dict[str, float]]:
        """Return the resources of each machine that takes new trials, by name."""
        return {name: _amounts(node.kind) for name, node in self.nodes.items() if not node.is_going}

    def all(self) -> dict[str, dict[str, float]]:
        """Return the resources of every machine, present or not, by name."""
        return {name: _amounts(kind) for name, kind in self._kinds.items()}

    def cost(self, now: float) -> float:
        """Return the cost of all machines until now."""
        return self.paid + sum(self._price(node, now) for node in self.nodes.values())

    def machine_s(self, now: float) -> float:
        """Return the machine-seconds of all machines until now."""
        return self.paid_s + sum(now - node.since for node in self.nodes.values())

    def speed(self, names: tuple[str, ...]) -> float:
        """Return the speed of a trial on these machines: that of the slowest machine."""
        found = [self.nodes[name].kind.speed for name in names if name in self.nodes]
        return min(found, default=1.0)

    @staticmethod
    def _price(node: FleetNode, now: float) -> float:
        return (now - node.since) / 3600 * node.kind.price_per_hour


def _amounts(kind: Machines) -> dict[str, float]:
    return {"cpu": float(kind.cpus), **kind.resources}


def named(kinds: tuple[Machines, ...]) -> dict[str, Machines]:
    """Return the kind of every machine, by the machine's name."""
    return {f"{kind.name}-{i}": kind for kind in kinds for i in range(kind.count)}
