"""The other runs on the cluster: what they hold and wait for, and what that leaves to this run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.run_claims import NOTHING_YET, Claim, Place, Wanted, claim_of
from overtone.engines.ray.shares import Allowance, allow, dominant_share, total_of

SAMPLES = 4
"""What others use is the least of the last so many looks: Ray's figures lag behind a little."""

UNCLAIMED_S = 3.0
"""Resources that are free, and due to a run that does not take them for so long, go to others.

The run is passed over for as long, and twice as long each next time, until it holds more or less."""

PASSED_OVER_S = 16 * UNCLAIMED_S
"""A run that cannot take what is due to it is passed over no longer than this."""

_Nodes = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class _Look:
    """What nodes had at one look, and what all others than this run held; by node."""

    used: _Nodes
    told: Mapping[str, _Nodes]  # by run: what it said that it held


@dataclass
class _Offer:
    """What is due to a run, and free.

    Attributes:
        held: What it holds all the time meanwhile.
        since: Since when it has not taken anything; None while nothing is free for it.
        patience_s: So long it was passed over the last time.
        again_at: Until then it is passed over.
    """

    held: int
    since: float | None = None
    patience_s: float = 0.0
    again_at: float = 0.0


class Neighbours:
    """Keeps what other runs claim, and tells what this run may use.

    Args:
        run: The name of this run.
        priority: Its priority.
        clock: Gives seconds.
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
        """Whether other runs share the cluster."""
        return bool(self._others)

    def hear(self, told: Mapping[str, str]) -> None:
        """Take note of what each other run says."""
        before = self._others.keys()
        found = {run: claim_of(run, text) for run, text in told.items()}
        self._others = {run: claim for run, claim in found.items() if claim is not None}
        if self._others.keys() != before:
            self._measure()

    def look(self, found: Sequence[NodeFacts], ours: _Nodes) -> None:
        """Take note of what the nodes have, and of what others than this run hold there.

        Args:
            found: The nodes that are alive.
            ours: What this run holds, by node.
        """
        self._total = {node.id: dict(node.total) for node in found}
        used = {
            node.id: {
                name: max(0.0, n - node.free.get(name, 0.0) - ours.get(node.id, {}).get(name, 0.0))
                for name, n in node.total.items()
                if name != "object_store_memory"  # used by the minute, and not reserved
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
        """Return this run as it tells of itself.

        Args:
            held: How many leases it holds, by shape and nodes.
            wanted: How many trials of each shape wait.
            barred: The nodes that it cannot use.
        """
        spent = self._mine.spent
        if held or spent != NOTHING_YET:
            equals = [one for one in self._others.values() if one.priority == self._mine.priority]
            others = [one.spent for one in equals if one.spent != NOTHING_YET]
            if spent == NOTHING_YET or not wanted:  # nobody saves turns for later
                spent = max(spent, min(others, default=0.0))
        has_changed = held != self._mine.held
        self._mine = replace(self._mine, held=held, wanted=wanted, barred=barred, spent=spent)
        if has_changed:
            self._measure()
        return self._mine

    def allow(self) -> Allowance:
        """Return what this run may use, after its last `claim`."""
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
        """Pass over those who have not taken what was due to them."""
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
        """Find out what nobody holds but the runs that say so."""
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
            return 0.0  # what the last run held may not be back yet
        return max(0.0, min(self._unexplained(look, node, name) for look in self._looks))

    def _unexplained(self, look: _Look, node: str, name: str) -> float:
        told = _sum_of([look.told[run] for run in self._others if run in look.told], node, name)
        return look.used.get(node, {}).get(name, 0.0) - told


def _sum_of(holders: Iterable[_Nodes], node: str, name: str) -> float:
    return sum(held.get(node, {}).get(name, 0.0) for held in holders)
