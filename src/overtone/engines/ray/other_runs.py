"""The other runs on the cluster: their claims, and the resources that remain for this run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.run_claims import NOTHING_YET, Claim, Place, Wanted, claim_of
from overtone.engines.ray.shares import Allowance, allow, dominant_share, total_of

SAMPLES = 4
"""Number of looks whose minimum is the foreign use of resources: Ray's figures lag a little."""

UNCLAIMED_S = 3.0
"""Seconds after which free resources go to other runs, if the run to which they are due does not take them.

That run is passed over for as long, and for twice as long each next time, until its leases change."""

PASSED_OVER_S = 16 * UNCLAIMED_S
"""Maximum time for which a run that cannot take its due resources is passed over."""

_Nodes = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class _Look:
    """Amounts at one look: `used` by all except this run, and `told` by the other runs."""

    used: _Nodes
    told: Mapping[str, _Nodes]  # by run: the amounts that it claimed to hold


@dataclass
class _Offer:
    """State of the free resources that are due to another run.

    Attributes:
        held: Number of leases that the run holds; a change of it resets the offer.
        since: Time since which the run could have taken resources; None while nothing is free for it.
        patience_s: Seconds for which the run was passed over the last time.
        again_at: Time until which the run is passed over.
    """

    held: int
    since: float | None = None
    patience_s: float = 0.0
    again_at: float = 0.0


class Neighbours:
    """The claims of all runs on the cluster, and the resources that this run may use.

    Args:
        run: Name of this run.
        priority: Priority of this run.
        clock: Returns the time in seconds.
    """

    def __init__(self, run: str, priority: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._mine = Claim(run, priority, time.time())
        self._others: dict[str, Claim] = {}
        self._looks: deque[_Look] = deque(maxlen=SAMPLES)
        self._total: dict[str, dict[str, float]] = {}
        self._usable: dict[str, dict[str, float]] = {}  # by all runs together
        self._looked_at = clock()
        self._offers: dict[str, _Offer] = {}

    @property
    def are_there(self) -> bool:
        """True if other runs share the cluster."""
        return bool(self._others)

    def hear(self, told: Mapping[str, str]) -> None:
        """Record the claims of the other runs, from their texts by run name."""
        before = self._others.keys()
        found = {run: claim_of(run, text) for run, text in told.items()}
        self._others = {run: claim for run, claim in found.items() if claim is not None}
        if self._others.keys() != before:
            self._measure()

    def look(self, found: Sequence[NodeFacts], ours: _Nodes) -> None:
        """Record the resources of the nodes, and the amounts that are in use by others than this run.

        Args:
            found: The nodes that are alive.
            ours: Amounts that this run holds, by node.
        """
        self._total = {node.id: dict(node.total) for node in found}
        used = {
            node.id: {
                name: max(0.0, n - node.free.get(name, 0.0) - ours.get(node.id, {}).get(name, 0.0))
                for name, n in node.total.items()
                if name != "object_store_memory"  # changes all the time, and is not reserved
            }
            for node in found
        }
        self._looks.append(_Look(used, {run: one.by_node() for run, one in self._others.items()}))
        self._measure()
        now = self._clock()
        if self._mine.spent != NOTHING_YET:
            share = dominant_share(self._mine.holds(), total_of(self._usable))
            self._mine = replace(self._mine, spent=self._mine.spent + share * (now - self._looked_at))
        self._looked_at = now

    def claim(self, held: Mapping[Place, int], wanted: Wanted, barred: frozenset[str]) -> Claim:
        """Update and return the claim of this run.

        Args:
            held: Number of leases of this run, by shape and nodes.
            wanted: Number of waiting trials of each shape.
            barred: The nodes that this run cannot use.
        """
        spent = self._mine.spent
        if held or spent != NOTHING_YET:
            equals = [one for one in self._others.values() if one.priority == self._mine.priority]
            others = [one.spent for one in equals if one.spent != NOTHING_YET]
            if spent == NOTHING_YET or not wanted:  # a run cannot save turns for later
                spent = max(spent, min(others, default=0.0))
        has_changed = held != self._mine.held
        self._mine = replace(self._mine, held=held, wanted=wanted, barred=barred, spent=spent)
        if has_changed:
            self._measure()
        return self._mine

    def allow(self) -> Allowance:
        """Return the resources that this run may use, after its last `claim`."""
        if not self._others:
            return Allowance(self._usable)
        now = self._clock()
        self._expire(now)
        others = [
            replace(one, wanted=()) if now < self._offers[run].again_at else one
            for run, one in self._others.items()
        ]
        found = allow(self._mine, others, self._usable)
        for run, offer in self._offers.items():
            if run not in found.ready:
                offer.since = None
            elif offer.since is None:
                offer.since = now
        return found

    def _expire(self, now: float) -> None:
        """Pass over the runs that have not taken the resources due to them."""
        before, self._offers = self._offers, {}
        for run, claim in self._others.items():
            held = sum(claim.held.values())
            offer = before.get(run)
            if offer is None or offer.held != held:
                offer = _Offer(held)
            elif offer.since is not None and now - offer.since >= UNCLAIMED_S:
                offer.patience_s = min(max(2 * offer.patience_s, UNCLAIMED_S), PASSED_OVER_S)
                offer.since, offer.again_at = None, now + offer.patience_s
            self._offers[run] = offer

    def _measure(self) -> None:
        """Compute the amounts that the runs may use together: all except foreign use."""
        holders = [one.by_node() for one in (self._mine, *self._others.values())]
        self._usable = {
            id: {
                name: round(min(n, max(n - self._foreign(id, name), _sum_of(holders, id, name))), 4)
                for name, n in amounts.items()
            }
            for id, amounts in self._total.items()
        }

    def _foreign(self, node: str, name: str) -> float:
        if len(self._looks) < SAMPLES:
            return 0.0  # the leases of an ended run may not be returned yet
        return max(0.0, min(self._unexplained(look, node, name) for look in self._looks))

    def _unexplained(self, look: _Look, node: str, name: str) -> float:
        told = _sum_of([look.told[run] for run in self._others if run in look.told], node, name)
        return look.used.get(node, {}).get(name, 0.0) - told


def _sum_of(holders: Iterable[_Nodes], node: str, name: str) -> float:
    return sum(held.get(node, {}).get(name, 0.0) for held in holders)
