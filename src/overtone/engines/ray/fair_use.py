"""Limits a run to the resources that it may use on a cluster shared with other runs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from overtone.core.resources import Resources
from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.leases import Leases
from overtone.engines.ray.nodes import Nodes
from overtone.engines.ray.other_runs import Neighbours
from overtone.engines.ray.register import Register
from overtone.engines.ray.run_claims import within

KEEP_S = 0.2
"""Maximum time to keep unused resources for the next trial while other runs wait."""

AT_MOST = 0.2
"""Maximum share of the engine's time that is spent on dividing the cluster."""


class FairUse:
    """Publishes this run's claim to the other runs, and applies the rules of sharing to this run.

    Args:
        run: Name of this run.
        priority: Priority of this run.
        most: Maximum amounts that this run uses, by resource name.
        leases: Leases of this run.
        nodes: Nodes of the cluster, which receive the amounts that this run may use.
        short: Returns the number of trials of each shape that wait for resources.
        asked: Returns the number of trials of each shape whose lease was requested from Ray.
        wake_for: Turns a function into one for other threads, which runs it in the engine's thread.
        later: Calls a function in the engine's thread after a number of seconds.
    """

    def __init__(
        self,
        run: str,
        priority: float,
        most: Mapping[str, float],
        leases: Leases,
        nodes: Nodes,
        short: Callable[[], Mapping[Resources, int]],
        asked: Callable[[], Counter[Resources]],
        wake_for: Callable[[Callable[[], None]], Callable[[], None]],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        self._most, self._leases, self._nodes, self._later = most, leases, nodes, later
        self._short, self._asked = short, asked
        self._neighbours = Neighbours(run, priority)
        self._register = Register(run, wake_for(self._expect))
        self._alive: frozenset[str] = frozenset()
        self._seen: tuple[int, Counter[Resources]] = (0, Counter())
        self._is_due = self._has_claimants = self._is_put_off = False
        self._not_before = 0.0

    def join(self, within_s: float) -> None:
        """Learn of the other runs before the first trial starts, if the register answers in time."""
        self._register.start(self._claim())
        self._register.join(within_s)

    def look(self, found: Sequence[NodeFacts]) -> Mapping[str, Mapping[str, float]]:
        """Record the nodes that are alive; return the amounts that this run may use, by node id."""
        self._neighbours.hear(self._register.heard())
        self._alive = frozenset([node.id for node in found])
        self._neighbours.look(found, {node.id: self._leases.amounts_on(node.id) for node in found})
        return self._divide()

    def keep_up(self) -> None:
        """Divide the cluster again after any change; free of cost while no other run shares the cluster.

        Call it once the controller knows of all ended trials: otherwise their leases look idle.
        """
        has_changed = self._is_due or self._seen[0] != self._leases.n_changes
        if not (has_changed or self._neighbours.are_there):
            return
        now = time.monotonic()
        if has_changed or self._seen[1] != self._wanted():
            if now < self._not_before:
                self._put_off(self._not_before - now)
                return
            self._neighbours.hear(self._register.heard())
            self._nodes.allow(self._divide())
            self._not_before = now + (time.monotonic() - now) / AT_MOST

    def close(self) -> None:
        """Publish that this run holds and wants nothing; call it after the leases were returned."""
        self._register.stop(self._neighbours.claim({}, (), frozenset()).text(), 1.0)

    def _expect(self) -> None:
        self._is_due, self._is_put_off = True, False

    def _put_off(self, seconds: float) -> None:
        if not self._is_put_off:
            self._is_put_off = True
            self._later(seconds, self._expect)

    def _divide(self) -> Mapping[str, Mapping[str, float]]:
        if self._has_claimants:
            self._leases.drop_idle(time.monotonic() - KEEP_S)
        self._is_due, self._seen = False, (self._leases.n_changes, self._wanted())
        self._register.say(self._claim())
        found = self._neighbours.allow()
        self._leases.share(self._alive, found.returns_on, found.n_returns, found.grants)
        self._has_claimants = found.has_claimants
        if self._has_claimants and self._leases.has_idle():
            self._later(KEEP_S * 1.5, self._expect)
        return found.left

    def _wanted(self) -> Counter[Resources]:
        """Return the number of waiting trials, by shape."""
        return self._asked() + Counter(self._short())

    def _claim(self) -> str:
        wanted = within(self._wanted(), self._most, self._leases.amounts())
        barred = self._alive - self._nodes.usable()
        return self._neighbours.claim(self._leases.places(), wanted, barred).text()
