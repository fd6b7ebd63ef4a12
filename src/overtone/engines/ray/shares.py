"""Fair shares: the division of a cluster's resources between the runs, as one run applies it.

The rules, in this order:

1. Runs of higher priority are served first.
2. Among runs of equal priority the next trial is due to the run with the smallest dominant share:
   the largest of its shares of any resource (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011).
3. Ties go to a run that never held anything, then to the run with fewer turns, then to the run that
   already holds the resources, then to the run that began first.
4. A run starts no trial with resources that are due to another run. While another run waits, a run
   returns the resources of each trial that ends in three cases: it holds more than is due to it, it has
   a lower priority, or the other run holds nothing. Running trials are not stopped.
5. For a waiting trial, the nodes where the fewest trials must end before it fits are kept free. Other
   nodes stay in use.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from overtone.core.placement import UNIT, Node, demands_of, fit, parts
from overtone.core.resources import Bundle, Resources
from overtone.engines.ray.run_claims import NOTHING_YET, Claim

Amounts = Mapping[str, Mapping[str, float]]
"""Amounts by node (Ray's id) and resource name."""

TURN_S = 8.0
"""Length of a turn: a turn is the share of the largest trial of any run, held for this many seconds."""


@dataclass(frozen=True)
class Allowance:
    """The resources that a run may use now.

    Attributes:
        left: Amounts that the run may use on each node, including those that it holds.
        grants: Number of trials of each shape that it may start now on free resources; None for no limit.
        returns_on: The nodes where the resources of a trial that ends are returned.
        n_returns: Number of trials whose resources are returned.
        ready: The other runs that could now start a trial that is due to them.
        has_claimants: Whether other runs wait for resources that this run may hold.
    """

    left: dict[str, dict[str, float]]
    grants: Mapping[Resources, int] | None = None
    returns_on: frozenset[str] = frozenset()
    n_returns: int = 0
    ready: frozenset[str] = frozenset()
    has_claimants: bool = False


def allow(mine: Claim, others: Iterable[Claim], nodes: Amounts) -> Allowance:
    """Return the resources that this run may use.

    Args:
        mine: Claim of this run.
        others: Claims of the other runs.
        nodes: Amounts that all these runs may use together, in use or free.
    """
    claims = [mine, *others]
    due = targets(claims, nodes)
    lacks = {claim.run: due[claim.run] - claim.holds() for claim in claims}
    division = _Division(mine, claims, nodes, due)
    for claim in sorted(claims, key=division.rank):
        for shape, count in lacks[claim.run].items():
            division.serve(claim, shape, count)
    waits = any(lacks[claim.run] for claim in claims[1:])
    return Allowance(
        division.left(), division.grants, frozenset(division.returns_on), division.n_returns,
        frozenset(division.ready), waits,
    )  # fmt: skip


def targets(claims: Sequence[Claim], nodes: Amounts) -> dict[str, Counter[Resources]]:
    """Return the number of trials of each shape that each run should hold, ignoring current placements."""
    room = _Room(nodes, claims)
    found: dict[str, Counter[Resources]] = {claim.run: Counter() for claim in claims}
    for priority in sorted({claim.priority for claim in claims}, reverse=True):
        equals = [claim for claim in claims if claim.priority == priority]
        queues = {claim.run: _demand(claim) for claim in equals}
        had = turns(claims, nodes)
        ready = [_Next.of(claim, 0.0, 0, had[claim.run]) for claim in equals]
        heapq.heapify(ready)
        while ready:
            claim = ready[0].claim
            queue, filled = queues[claim.run], found[claim.run]
            while queue and not room.take(claim, queue[0]):
                shape = queue[0]
                while queue and queue[0] == shape:
                    queue.popleft()
            if not queue:
                heapq.heappop(ready)
                continue
            filled[queue.popleft()] += 1
            turn = max(had[claim.run], 0)
            heapq.heapreplace(ready, _Next.of(claim, room.share(filled), filled.total(), turn))
    return found


def turns(claims: Sequence[Claim], nodes: Amounts) -> dict[str, int]:
    """Return each run's number of turns above the run with the fewest; -1 if it never held a lease."""
    total = total_of(nodes)
    shapes = {shape for claim in claims for shape in [*claim.holds(), *dict(claim.wanted)]}
    length = TURN_S * max([dominant_share({shape: 1}, total) for shape in shapes], default=0.0)
    least = min([claim.spent for claim in claims if claim.spent != NOTHING_YET], default=0.0)
    return {
        claim.run: -1 if claim.spent == NOTHING_YET else int((claim.spent - least) / length) if length else 0
        for claim in claims
    }


@dataclass(order=True, frozen=True)
class _Next:
    """Sort key of a run for its next trial: the smallest key is served first."""

    share: float
    turn: int
    is_new: bool
    began: float
    run: str
    claim: Claim

    @staticmethod
    def of(claim: Claim, share: float, filled: int, turn: int) -> _Next:
        is_new = filled >= sum(claim.held.values())
        return _Next(round(share, 9), turn, is_new, claim.began, claim.run, claim)


def _demand(claim: Claim) -> deque[Resources]:
    """Return the shapes of the trials that a run has or wants, one entry for each trial."""
    counts = claim.holds()
    for shape, count in claim.wanted:
        counts[shape] += count
    return deque(counts.elements())


class _Room:
    """Free resources of the nodes while trials are placed; they only shrink.

    Nodes that few runs can use, and nodes without GPUs, are filled first.
    """

    def __init__(self, nodes: Amounts, claims: Sequence[Claim]) -> None:
        barring = Counter([id for claim in claims for id in claim.barred])
        order = sorted(nodes, key=lambda id: (-barring[id], nodes[id].get("gpu", 0.0) > 0))
        self.nodes = {id: node_of(id, nodes[id]) for id in order}
        self._total = total_of(nodes)
        self._open: dict[tuple[Resources, frozenset[str]], deque[Node]] = {}

    def take(self, claim: Claim, shape: Resources) -> list[tuple[str, Bundle]] | None:
        """Place a trial of this run; return the node of each bundle, or None if it does not fit."""
        # a node without room for a shape never gets room later
        usable = self._open.get((shape, claim.barred))
        if usable is None:
            usable = deque(node for id, node in self.nodes.items() if id not in claim.barred)
            self._open[shape, claim.barred] = usable
        if len(shape.bundles) == 1:
            demand = demands_of(shape)[0]
            while usable and usable[0].gpus_for(demand) is None:
                usable.popleft()
        placement = fit(shape, usable)
        if placement is None:
            return None
        for id, demand, gpus in parts(shape, placement):
            self.nodes[id].take(demand, gpus)
        return list(zip(placement.nodes, shape.bundles, strict=True))

    def take_some(self, id: str, bundle: Bundle) -> Bundle:
        """Take the available part of a bundle on a node, and return it."""
        node = self.nodes[id]
        there = tuple([(name, min(amount, max(0, node.free.get(name, 0)) / UNIT)) for name, amount in bundle])
        rest = node_of(id, _less({name: units / UNIT for name, units in node.free.items()}, there))
        node.free, node.gpus = rest.free, rest.gpus
        return there

    def share(self, counts: Mapping[Resources, int]) -> float:
        """Return the dominant share of a run with these trials."""
        return dominant_share(counts, self._total)


class _Division:
    """Division of free resources between the runs in order of their rank, as one run computes it."""

    def __init__(
        self, mine: Claim, claims: Sequence[Claim], nodes: Amounts, due: Mapping[str, Counter[Resources]]
    ) -> None:
        self.grants: Counter[Resources] = Counter()
        self.n_returns = 0
        self.returns_on: set[str] = set()
        self.ready: set[str] = set()
        self._mine, self._claims, self._due = mine, claims, due
        self._held = {claim.run: claim.by_node() for claim in claims}
        others = [claim for claim in claims if claim is not mine]
        self._left = _without(nodes, [self._held[claim.run] for claim in others])
        self._unused = _Room(_without(self._left, [self._held[mine.run]]), claims)
        total = total_of(nodes)
        self._turns = turns(claims, nodes)
        self._shares = {claim.run: dominant_share(claim.holds(), total) for claim in claims}

    def rank(self, claim: Claim) -> tuple[float, float, int, float, str]:
        """Return the sort key of a run: runs are served in ascending order."""
        share = round(self._shares[claim.run], 9)
        return (-claim.priority, share, self._turns[claim.run], claim.began, claim.run)

    def serve(self, claim: Claim, shape: Resources, count: int) -> None:
        """Reserve resources for `count` trials that are due to a run."""
        for index in range(count):
            placed = self._unused.take(claim, shape)
            if placed is None:
                self._await(claim, shape, count - index)
                return
            if claim is self._mine:
                self.grants[shape] += 1
            else:
                self.ready.add(claim.run)
                for node, bundle in placed:
                    self._keep(node, bundle)

    def left(self) -> dict[str, dict[str, float]]:
        """Return the amounts that this run may use, by node."""
        left = {node: dict(amounts) for node, amounts in self._left.items()}
        leases = _leases([self._mine])
        for node in self.returns_on & left.keys():
            ordered = sorted(leases[node], key=lambda bundle: -sum(amount for _, amount in bundle))
            for bundle in ordered[: self.n_returns]:
                left[node] = _less(left[node], bundle)
        return left

    def _await(self, claim: Claim, shape: Resources, count: int) -> None:
        """Choose nodes for trials that fit only after others end, and keep free resources for one trial."""
        sources = [one for one in self._claims if self._gives_way(one, claim)]
        needed, choices = self._nearest(claim, shape, sources)
        if not choices:
            sources = [one for one in self._claims if one.priority <= claim.priority]
            needed, choices = self._nearest(claim, shape, sources)
        if not choices:
            return
        if claim is not self._mine and self._mine in sources:
            mine = _leases([self._mine])
            nodes = {node for choice in choices for node, _ in choice} & mine.keys()
            self.returns_on |= nodes
            most = sum(len(mine[node]) for node in nodes)
            if self._mine.priority == claim.priority:
                most = min(most, max(self._excess(self._mine), needed))
            self.n_returns = min(self.n_returns + needed * count, most)
        for node, bundle in choices[0]:
            there = self._unused.take_some(node, bundle)
            if claim is not self._mine:
                self._keep(node, there)

    def _gives_way(self, one: Claim, claimant: Claim) -> bool:
        if one is claimant or one.priority > claimant.priority:
            return False
        return one.priority < claimant.priority or self._excess(one) > 0 or not claimant.held

    def _excess(self, one: Claim) -> int:
        """Return the number of trials that a run holds beyond those due to it."""
        return (one.holds() - self._due[one.run]).total()

    def _nearest(
        self, claim: Claim, shape: Resources, sources: Sequence[Claim]
    ) -> tuple[int, list[list[tuple[str, Bundle]]]]:
        """Return how few trials of `sources` must end on a node, and the choices; (0, []) if none fits."""
        leases = _leases(sources)
        usable = {id: node for id, node in self._unused.nodes.items() if id not in claim.barred}
        if len(shape.bundles) > 1:
            emptiest = sorted(usable, key=lambda id: -sum(usable[id].free.values()))
            emptied = [_emptied(usable[id], leases.get(id, ())) for id in emptiest]
            placement = fit(shape, emptied)
            if placement is None:
                return 0, []
            needed = sum(len(leases.get(id, ())) for id in set(placement.nodes))
            return needed, [list(zip(placement.nodes, shape.bundles, strict=True))]
        counts = {id: _ends_needed(node, leases.get(id, ()), shape) for id, node in usable.items()}
        fewest = min([count for count in counts.values() if count is not None], default=0)
        return fewest, [[(id, shape.bundles[0])] for id, count in counts.items() if count == fewest]

    def _keep(self, node: str, bundle: Iterable[tuple[str, float]]) -> None:
        self._left[node] = _less(self._left[node], bundle)


def dominant_share(counts: Mapping[Resources, int], total: Mapping[str, float]) -> float:
    """Return the largest share of any resource that these numbers of trials hold, by shape."""
    held: dict[str, float] = {}
    for shape, count in counts.items():
        for name, amount in shape.total().items():
            held[name] = held.get(name, 0.0) + amount * count
    return max((amount / total[name] for name, amount in held.items() if total.get(name)), default=0.0)


def total_of(nodes: Amounts) -> dict[str, float]:
    """Return the sum over all nodes."""
    total: dict[str, float] = {}
    for amounts in nodes.values():
        for name, amount in amounts.items():
            total[name] = total.get(name, 0.0) + amount
    return total


def _leases(claims: Iterable[Claim]) -> dict[str, list[Bundle]]:
    """Return all bundles that these runs hold, by node."""
    found: dict[str, list[Bundle]] = {}
    for claim in claims:
        for node, bundle, count in claim.bundles():
            found.setdefault(node, []).extend([bundle] * count)
    return found


def _ends_needed(node: Node, leases: Sequence[Bundle], shape: Resources) -> int | None:
    """Return how many of these leases, largest first, must end before a shape fits; None if it never fits."""
    demand = demands_of(shape)[0]
    names = [name for name, _ in demand]
    ordered = sorted(leases, key=lambda bundle: [-dict(bundle).get(name, 0.0) for name in names])
    for needed in range(len(ordered) + 1):
        if _emptied(node, ordered[:needed]).gpus_for(demand) is not None:
            return needed
    return None


def _emptied(node: Node, leases: Iterable[Bundle]) -> Node:
    free = {name: units / UNIT for name, units in node.free.items()}
    for bundle in leases:
        for name, amount in bundle:
            free[name] = free.get(name, 0.0) + amount
    return node_of(node.name, free)


def _without(nodes: Amounts, holders: Iterable[Amounts]) -> dict[str, dict[str, float]]:
    left = {node: dict(amounts) for node, amounts in nodes.items()}
    for held in holders:
        for node, amounts in held.items():
            if node in left:
                left[node] = _less(left[node], amounts.items())
    return left


def _less(amounts: Mapping[str, float], taken: Iterable[tuple[str, float]]) -> dict[str, float]:
    left = dict(amounts)
    for name, amount in taken:
        if name in left:
            left[name] = max(0.0, round(left[name] - amount, 4))
    return left


def node_of(name: str, amounts: Mapping[str, float]) -> Node:
    """Return a node with these amounts, for `fit`."""
    free = {what: round(amount * UNIT) for what, amount in amounts.items()}
    gpus = free.get("gpu", 0)
    part = [gpus % UNIT] if gpus % UNIT else []
    return Node(name, free, [UNIT] * (gpus // UNIT) + part)
