"""Placement of a demand's bundles on the free resources of nodes.

Amounts are integer multiples of 1/10,000, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from overtone.core.resources import GPU_MEMORY, Placement, Resources

UNIT = 10_000
"""Accounting units per CPU, GPU or byte."""

MOST_TRIES = 1_000
"""Most placements of a bundle that the search for a gang's nodes tries before it gives up."""

Gpus = tuple[tuple[int, float], ...]
Demand = tuple[tuple[str, int], ...]
"""A bundle in accounting units."""

Part = tuple[str, Demand, Gpus]
"""A placed bundle: its node, its demand and its GPUs."""


@dataclass(slots=True)
class Node:
    """The free resources of a node.

    Attributes:
        gpus: The free units of each device.
        gpu_memory: The free memory of each device, in units; empty if it is not known.
    """

    name: str
    free: dict[str, int]
    gpus: list[int] = field(default_factory=list)
    gpu_memory: list[int] = field(default_factory=list)

    def copy(self) -> Node:
        return Node(self.name, dict(self.free), list(self.gpus), list(self.gpu_memory))

    def gpus_for(self, demand: Demand) -> Gpus | None:
        """Return the GPUs that `demand` would get; None if it does not fit."""
        gpus: Gpus = ()
        for name, units in demand:
            if self.free.get(name, 0) < units and name != GPU_MEMORY:  # which counts by device
                return None
            if name == "gpu":
                devices = self._devices(units, memory_of(demand))
                if devices is None:
                    return None
                gpus = tuple([(index, units / UNIT) for index, units in devices])
        return gpus

    def take(self, demand: Demand, gpus: Gpus) -> None:
        """Subtract `demand` and its GPUs."""
        for name, units in demand:
            self.free[name] = self.free.get(name, 0) - units
        if gpus:
            self._add_to_gpus(demand, gpus, -1)

    def give(self, demand: Demand, gpus: Gpus) -> None:
        """Add back the resources that `take` subtracted."""
        for name, units in demand:
            self.free[name] = self.free.get(name, 0) + units
        if gpus:
            self._add_to_gpus(demand, gpus, 1)

    def _add_to_gpus(self, demand: Demand, gpus: Gpus, sign: int) -> None:
        """Add, times `sign`, what `demand` has of each GPU; `free` has the memory of one GPU already."""
        memory = sign * memory_of(demand)
        for index, fraction in gpus:
            if index < len(self.gpus):
                self.gpus[index] += sign * round(fraction * UNIT)
            if memory and index < len(self.gpu_memory):
                self.gpu_memory[index] += memory
        if memory:
            self.free[GPU_MEMORY] += memory * (len(gpus) - 1)

    def state(self) -> tuple[object, ...]:
        """Return a value that is equal for nodes with equal free resources."""
        return tuple(sorted(self.free.items())), tuple(self.gpus), tuple(self.gpu_memory)

    def _devices(self, units: int, memory: int) -> list[tuple[int, int]] | None:
        """Return free devices for a demand of whole GPUs; for a fraction, the fullest device with room.

        Args:
            memory: Units that must be free on each device. If any must, the fullest is that with the least
                free memory.
        """
        each = min(units, UNIT)
        if memory:
            room = [
                (left, free, index)
                for index, (free, left) in enumerate(zip(self.gpus, self.gpu_memory, strict=False))
                if free >= each and left >= memory
            ]
        else:
            room = [(0, free, index) for index, free in enumerate(self.gpus) if free >= each]
        if units < UNIT:
            return [(min(room)[2], units)] if room else None
        whole = [index for _, _, index in room][: units // UNIT]
        return [(index, UNIT) for index in whole] if len(whole) == units // UNIT else None


def fit(resources: Resources, nodes: Collection[Node]) -> Placement | None:
    """Return a placement of every bundle, or None. `nodes` are not modified.

    PACK prefers one node, then few nodes; SPREAD prefers nodes that hold no bundle of the demand yet.
    """
    demands = demands_of(resources)
    if len(demands) == 1:
        for node in nodes:
            gpus = node.gpus_for(demands[0])
            if gpus is not None:
                return _alone(node.name, gpus)
        return None
    if resources.strategy.endswith("PACK"):
        for node in nodes:
            found = _all_on(node.copy(), demands)
            if found is not None:
                return Placement((node.name,) * len(demands), found)
        if resources.strategy == "STRICT_PACK" or len(nodes) < 2:
            return None
    if not _may_fit(demands, nodes):
        return None
    return _Search(demands, nodes, resources.strategy).placement()


@lru_cache(1024)
def _alone(node: str, gpus: Gpus) -> Placement:
    """Return the placement of a single bundle; equal placements share one object."""
    return Placement((node,), (gpus,))


def _all_on(node: Node, demands: Sequence[Demand]) -> tuple[Gpus, ...] | None:
    """Take all demands from `node` and return the GPUs of each; None if they do not fit."""
    found: list[Gpus] = []
    for demand in demands:
        gpus = node.gpus_for(demand)
        if gpus is None:
            return None
        node.take(demand, gpus)
        found.append(gpus)
    return tuple(found)


def _may_fit(demands: Sequence[Demand], nodes: Collection[Node]) -> bool:
    """Return whether each bundle fits alone and the sum fits: a check that most infeasible gangs fail."""
    sums: dict[str, int] = {}
    for demand in demands:
        if not any(node.gpus_for(demand) is not None for node in nodes):
            return False
        for name, units in demand:
            sums[name] = sums.get(name, 0) + units
    sums.pop(GPU_MEMORY, None)  # which counts by device
    return all(units <= sum(max(0, node.free.get(name, 0)) for node in nodes) for name, units in sums.items())


class _Search:
    """Depth-first search for the nodes of unlike bundles, the largest bundle first.

    Few gangs need more than one descent. The search is bounded, since a gang that does not fit
    could take hours: after `MOST_TRIES` the gang counts as not fitting. An empty bundle, such as that of a
    head without resources, comes last and needs no node of its own.
    """

    def __init__(self, demands: Sequence[Demand], nodes: Collection[Node], strategy: str) -> None:
        self._demands = demands
        self._nodes = [node.copy() for node in nodes]
        self._order = sorted(range(len(demands)), key=lambda i: (-sum(units for _, units in demands[i]), i))
        self._spreads = strategy.endswith("SPREAD")
        self._is_strict = strategy.startswith("STRICT")
        self._chosen: dict[int, tuple[str, Gpus]] = {}
        self._left = MOST_TRIES

    def placement(self) -> Placement | None:
        """Return the first placement found; None if there is none."""
        if not self._place(0):
            return None
        chosen = [self._chosen[i] for i in range(len(self._demands))]
        return Placement(tuple([name for name, _ in chosen]), tuple([gpus for _, gpus in chosen]))

    def _place(self, depth: int) -> bool:
        """Place the bundles from `depth` on; return whether all fit. Equal nodes are tried once."""
        if depth == len(self._order):
            return True
        i = self._order[depth]
        demand = self._demands[i]
        are_alike = all(self._demands[other] == demand for other in self._order[depth + 1 :])
        taken = {name for name, _ in self._chosen.values()}
        seen: set[tuple[object, ...]] = set()
        for node in sorted(self._nodes, key=lambda node: (node.name in taken) == self._spreads):
            if self._is_strict and demand and node.name in taken:
                continue
            gpus = node.gpus_for(demand)
            if gpus is None:
                continue
            state = (*node.state(), node.name in taken)
            if state in seen:
                continue
            seen.add(state)
            self._left -= 1
            if self._left < 0:
                return False
            node.take(demand, gpus)
            self._chosen[i] = (node.name, gpus)
            if self._place(depth + 1):
                return True
            del self._chosen[i]
            node.give(demand, gpus)
            if are_alike:
                return False  # Equal bundles: another node for this one leaves room for no more of them.
        return False


def memory_of(demand: Demand) -> int:
    """Return the units of memory that a bundle needs on each of its GPUs."""
    for name, units in demand:
        if name == GPU_MEMORY:
            return units
    return 0


@lru_cache(1024)
def demands_of(resources: Resources) -> tuple[Demand, ...]:
    """Return the bundles in accounting units."""
    return tuple([units_of(bundle) for bundle in resources.bundles])


@lru_cache(1024)
def sums_of(resources: Resources) -> Demand:
    """Return the sum of all bundles, without zero amounts."""
    return tuple([one for one in units_of(resources.total().items()) if one[1]])


def units_of(bundle: Iterable[tuple[str, float]]) -> Demand:
    """Return amounts by name in accounting units."""
    return tuple([(name, round(amount * UNIT)) for name, amount in bundle])


@lru_cache(1024)
def parts(resources: Resources, placement: Placement) -> tuple[Part, ...]:
    """Return the placed bundles of a demand."""
    return tuple(zip(placement.nodes, demands_of(resources), placement.gpus, strict=True))
