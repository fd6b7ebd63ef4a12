"""The books of a machine's or a cluster's resources: placed, free, reserved; never oversubscribed.

Amounts are kept as whole multiples of 1/10,000, so that the books balance exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from overtone.core.resources import Placement, Resources, format_amount
from overtone.errors import ResourceError

UNIT = 10_000
"""How many book units make one CPU, one GPU, one byte."""

Gpus = tuple[tuple[int, float], ...]


@dataclass(slots=True)
class _Node:
    """What one node has left; `gpus` has the free units of each device."""

    name: str
    free: dict[str, int]
    gpus: list[int] = field(default_factory=list)

    def copy(self) -> _Node:
        return _Node(self.name, dict(self.free), list(self.gpus))

    def take(self, demand: Iterable[tuple[str, int]]) -> Gpus | None:
        """Subtract `demand` and name the GPUs that it got; None (and no change) if it does not fit."""
        devices: list[tuple[int, int]] = []
        for name, units in demand:
            if self.free.get(name, 0) < units:
                return None
            if name == "gpu":
                found = self._devices(units)
                if found is None:
                    return None
                devices = found
        for name, units in demand:
            self.free[name] -= units
        for index, units in devices:
            self.gpus[index] -= units
        return tuple((index, units / UNIT) for index, units in devices)

    def give(self, demand: Iterable[tuple[str, int]], gpus: Gpus) -> None:
        """Add back what `take` took."""
        for name, units in demand:
            self.free[name] = self.free.get(name, 0) + units
        for index, fraction in gpus:
            if index < len(self.gpus):
                self.gpus[index] += round(fraction * UNIT)

    def _devices(self, units: int) -> list[tuple[int, int]] | None:
        """Whole free devices for whole demands; for a fraction, the fullest device that has room."""
        if units < UNIT:
            room = [(free, index) for index, free in enumerate(self.gpus) if free >= units]
            return [(min(room)[1], units)] if room else None
        whole = [index for index, free in enumerate(self.gpus) if free == UNIT][: units // UNIT]
        return [(index, UNIT) for index in whole] if len(whole) == units // UNIT else None


class Ledger:
    """Places demands on nodes and keeps the books.

    One demand at a time may hold a reservation: what it needs is kept for it as it becomes
    free, and the others backfill with what is left over.
    """

    def __init__(self, nodes: Mapping[str, Mapping[str, float]] | None = None) -> None:
        self._capacity: dict[str, dict[str, int]] = {}
        self._nodes: dict[str, _Node] = {}
        self._placed: dict[str, tuple[Resources, Placement]] = {}
        self._reserved: tuple[str, Resources, Placement] | None = None
        self._fits: dict[Resources, bool] = {}
        self._feasible: dict[Resources, bool] = {}
        self.set_capacity(nodes or {})

    # --- capacity ----------------------------------------------------------------------

    def set_capacity(self, nodes: Mapping[str, Mapping[str, float]]) -> None:
        """The nodes that there are now. What is placed stays on the books of the nodes that remain."""
        self._capacity = {
            node: {name: round(amount * UNIT) for name, amount in amounts.items()}
            for node, amounts in nodes.items()
        }
        self._nodes = {node: self._empty(node) for node in self._capacity}
        for resources, placement in self._placed.values():
            for node, demand, gpus in _parts(resources, placement):
                if node in self._nodes:
                    self._nodes[node].give(
                        [(name, -units) for name, units in demand],
                        tuple((index, -fraction) for index, fraction in gpus),
                    )
        if self._reserved is not None:
            self.reserve(self._reserved[0], self._reserved[1])
        self._fits.clear()
        self._feasible.clear()

    def _empty(self, node: str) -> _Node:
        amounts = self._capacity[node]
        return _Node(node, dict(amounts), [UNIT] * (amounts.get("gpu", 0) // UNIT))

    # --- placing -----------------------------------------------------------------------

    def place(self, owner: str, resources: Resources) -> Placement | None:
        """Put the demand on the books, or None if it does not fit now.

        Raises:
            ValueError: `owner` is on the books already.
        """
        if owner in self._placed:
            raise ValueError(f"{owner} is placed already")
        mine = self._reserved is not None and self._reserved[0] == owner
        nodes = self._nodes if mine or self._reserved is None else self._unreserved()
        placement = _fit(resources, [node.copy() for node in nodes.values()])
        if placement is None:
            return None
        for node, demand, gpus in _parts(resources, placement):
            self._nodes[node].give(
                [(name, -units) for name, units in demand],
                tuple((index, -fraction) for index, fraction in gpus),
            )
        self._placed[owner] = (resources, placement)
        if mine:
            self._reserved = None
        self._fits.clear()
        return placement

    def release(self, owner: str) -> None:
        """Take `owner` off the books; what is not there is no error."""
        entry = self._placed.pop(owner, None)
        if entry is None:
            return
        for node, demand, gpus in _parts(*entry):
            if node in self._nodes:
                self._nodes[node].give(demand, gpus)
        self._fits.clear()

    def fits(self, resources: Resources, owner: str = "") -> bool:
        """Whether the demand could be placed now (for the reservation's owner, with what is kept for it)."""
        if self._reserved is not None and self._reserved[0] == owner:
            return _fit(resources, [node.copy() for node in self._nodes.values()]) is not None
        known = self._fits.get(resources)
        if known is None:
            nodes = self._nodes if self._reserved is None else self._unreserved()
            known = _fit(resources, [node.copy() for node in nodes.values()]) is not None
            self._fits[resources] = known
        return known

    def is_feasible(self, resources: Resources) -> bool:
        """Whether the demand could be placed if everything else were gone."""
        known = self._feasible.get(resources)
        if known is None:
            known = _fit(resources, [self._empty(node) for node in self._capacity]) is not None
            self._feasible[resources] = known
        return known

    def room(self, resources: Resources) -> int:
        """About how many more of this demand fit now: exact for 0, and for one bundle without GPUs."""
        if not self.fits(resources):
            return 0
        demand = [(name, units) for name, units in _units(resources.total().items()) if units]
        if not demand:
            return 1_000
        return max(1, sum(
            min(max(0, node.free.get(name, 0)) // units for name, units in demand)
            for node in self._nodes.values()
        ))  # fmt: skip

    # --- reservation -------------------------------------------------------------------

    @property
    def reserved_for(self) -> str | None:
        """Who holds the reservation."""
        return self._reserved[0] if self._reserved else None

    def reserve(self, owner: str, resources: Resources) -> None:
        """Keep what `owner` needs as it becomes free, on the nodes that are emptiest now."""
        self._reserved = None
        order = sorted(
            self._nodes.values(),
            key=lambda node: (
                -sum(
                    node.free.get(name, 0) / max(1, self._capacity[node.name].get(name, 0))
                    for name in resources.total()
                )
            ),
        )
        placement = _fit(resources, [self._empty(node.name) for node in order])
        if placement is not None:
            self._reserved = (owner, resources, placement)
        self._fits.clear()

    def unreserve(self, owner: str) -> None:
        """Give the reservation up, if `owner` has it."""
        if self.reserved_for == owner:
            self._reserved = None
            self._fits.clear()

    def _unreserved(self) -> dict[str, _Node]:
        """The nodes as those see them who do not hold the reservation."""
        assert self._reserved is not None
        nodes = {name: node.copy() for name, node in self._nodes.items()}
        for node, demand, gpus in _parts(self._reserved[1], self._reserved[2]):
            if node not in nodes:
                continue
            left = nodes[node]
            for name, units in demand:
                left.free[name] = max(0, left.free.get(name, 0) - units)
            for index, fraction in gpus:
                left.gpus[index] = max(0, left.gpus[index] - round(fraction * UNIT))
        return nodes

    # --- reading -----------------------------------------------------------------------

    def free(self) -> dict[str, float]:
        """What nobody holds, summed over nodes."""
        return _sum(node.free for node in self._nodes.values())

    def total(self) -> dict[str, float]:
        """What there is, summed over nodes."""
        return _sum(self._capacity.values())

    def __len__(self) -> int:
        """How many demands are placed."""
        return len(self._placed)


def infeasible(resources: Resources, total: Mapping[str, float]) -> str:
    """What to tell a user whose demand is above what there is."""
    has = (
        ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in sorted(total.items()))
        or "nothing"
    )
    return f"a trial asks for {resources}, but this machine has {has}: ask for less, or use a larger machine"


def check_feasible(resources: Resources, nodes: Mapping[str, Mapping[str, float]]) -> None:
    """Raise at once where no trial could ever start.

    Raises:
        ResourceError: The demand is above what there is.
    """
    ledger = Ledger(nodes)
    if not ledger.is_feasible(resources):
        raise ResourceError(infeasible(resources, ledger.total()))


def _fit(resources: Resources, nodes: list[_Node]) -> Placement | None:
    """A placement of every bundle on `nodes` (which it changes), or None.

    PACK prefers one node, then few; SPREAD prefers nodes that hold none of the demand yet.
    """
    demands = [_units(one) for one in resources.bundles]
    strict = resources.strategy.startswith("STRICT")
    if resources.strategy.endswith("PACK"):
        for node in nodes:
            trial = node.copy()
            gpus = [trial.take(demand) for demand in demands]
            if all(one is not None for one in gpus):
                return Placement((node.name,) * len(demands), tuple(one or () for one in gpus))
        if strict or len(nodes) < 2 or len(demands) < 2:
            return None
    found = _assign(demands, nodes, {}, spread=resources.strategy.endswith("SPREAD"), strict=strict)
    if found is None:
        return None
    return Placement(
        tuple(found[i][0] for i in range(len(demands))), tuple(found[i][1] for i in range(len(demands)))
    )


def _assign(
    demands: list[list[tuple[str, int]]],
    nodes: list[_Node],
    chosen: dict[int, tuple[str, Gpus]],
    spread: bool,
    strict: bool,
) -> dict[int, tuple[str, Gpus]] | None:
    """Depth-first search over the bundles, the largest first; equal nodes are tried once."""
    left = [i for i in range(len(demands)) if i not in chosen]
    if not left:
        return chosen
    i = max(left, key=lambda index: (sum(units for _, units in demands[index]), -index))
    taken = {name for name, _ in chosen.values()}
    order = sorted(nodes, key=lambda node: (node.name in taken) == spread)
    seen: set[tuple[object, ...]] = set()
    for node in order:
        if strict and spread and node.name in taken:
            continue
        state = (tuple(sorted(node.free.items())), tuple(node.gpus), node.name in taken)
        if state in seen:
            continue
        seen.add(state)
        gpus = node.take(demands[i])
        if gpus is None:
            continue
        found = _assign(demands, nodes, {**chosen, i: (node.name, gpus)}, spread, strict)
        if found is not None:
            return found
        node.give(demands[i], gpus)
    return None


def _units(bundle: Iterable[tuple[str, float]]) -> list[tuple[str, int]]:
    return [(name, round(amount * UNIT)) for name, amount in bundle]


def _parts(resources: Resources, placement: Placement) -> Iterator[tuple[str, list[tuple[str, int]], Gpus]]:
    for bundle, node, gpus in zip(resources.bundles, placement.nodes, placement.gpus, strict=True):
        yield node, _units(bundle), gpus


def _sum(books: Iterable[Mapping[str, int]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for amounts in books:
        for name, units in amounts.items():
            sums[name] = sums.get(name, 0.0) + units / UNIT
    return sums
