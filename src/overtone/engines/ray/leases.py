"""Resources of a Ray cluster that this run holds: placement groups, kept warm for the next trial.

A thread talks to Ray, which may take its time; the engine's thread asks and is told.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from overtone.core.resources import Bundle, Resources
from overtone.engines.ray import cluster_connection
from overtone.engines.ray.asked_leases import LOOK_EVERY_S, AskedLeases
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.placement_groups import remove_group

MOST_WANTED = 64
"""So many leases are asked for at once to show the autoscaler what is wanted."""


class Leases:
    """The leases of one run.

    Args:
        wake: Called, from the thread, when `granted` has something.
        finds_devices: Whether to ask Ray which accelerators a lease holds.
        labels: The selector of the nodes of a lease that may lie anywhere.

    Attributes:
        held: All that Ray has given.
        n_changes: How often this run came to hold more or less.
    """

    def __init__(
        self, wake: Callable[[], None], finds_devices: bool = True, labels: Mapping[str, str] | None = None
    ) -> None:
        self._wake = wake
        self._requests: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._granted: deque[tuple[Any, Lease]] = deque()
        self._refused: deque[tuple[Any, str]] = deque()
        self._idle: list[Lease] = []
        self.held: list[Lease] = []
        self.n_changes = 0
        self._returns_on: frozenset[str] = frozenset()
        self._n_returns = 0
        self._grants: Mapping[Resources, int] | None = None
        self._known: frozenset[str] = frozenset()
        self._asked = AskedLeases(self._on_granted, self._on_refused, finds_devices, dict(labels or {}))
        self._is_closed = False
        self._thread: threading.Thread | None = None

    # --- the engine's side ----------------------------------------------------------------

    def take(self, shape: Resources, nodes: tuple[str, ...]) -> Lease | None:
        """One that is idle, of this shape on these nodes."""
        for at in range(len(self._idle) - 1, -1, -1):
            lease = self._idle[at]
            if lease.fits(shape, nodes):
                del self._idle[at]
                return lease
        return None

    def ask(self, owner: Any, shape: Resources, nodes: tuple[str, ...]) -> None:
        """Ask Ray for one; `granted` tells when it is there, or that a wanted one has come first."""
        self._do(lambda: self._asked.create(owner, shape, nodes))

    def forget(self, owner: Any) -> None:
        """The owner does not wait any more."""
        self._do(lambda: self._asked.cancel(owner))

    def want(self, shape: Resources, count: int) -> None:
        """Let the autoscaler see that so many more of this shape are wanted."""
        self._do(lambda: self._asked.show(shape, min(count, MOST_WANTED)))

    def granted(self) -> list[tuple[Any, Lease]]:
        """(owner, lease) of those that are there since the last call; the owner is None for a wanted one."""
        found = []
        while self._granted:
            owner, lease = self._granted.popleft()
            self.held.append(lease)
            self.n_changes += 1
            found.append((owner, lease))
        return found

    def refused(self) -> list[tuple[Any, str]]:
        """(owner, why) of those that Ray does not make, since the last call."""
        return [self._refused.popleft() for _ in range(len(self._refused))]

    def put_back(self, lease: Lease) -> bool:
        """Keep it for the next trial, unless others wait for it; whether it was kept."""
        lease.idle_since = time.monotonic()
        self._idle.append(lease)
        self._return([lease])
        return lease in self._idle

    def use(self, lease: Lease) -> None:
        """An idle one has a trial now."""
        self._idle.remove(lease)

    def drop(self, lease: Lease) -> None:
        """Return it to Ray."""
        if lease in self._idle:
            self._idle.remove(lease)
        if lease in self.held:
            self.held.remove(lease)
            self.n_changes += 1
            if lease.group is not None:
                self._do(lambda: remove_group(lease.group))

    def drop_idle(self, before: float) -> bool:
        """Return those that were given back before this time; whether there were any."""
        old = [one for one in self._idle if one.idle_since < before]
        for lease in old:
            self.drop(lease)
        return bool(old)

    def share(
        self,
        known: frozenset[str],
        returns_on: frozenset[str],
        n_returns: int,
        grants: Mapping[Resources, int] | None,
    ) -> None:
        """Ask Ray only for what is due to this run; other runs ask it, too.

        Args:
            known: The nodes (Ray's ids) that there are. Leases that are wanted may lie on others only:
                those come when the autoscaler has seen what is wanted.
            returns_on: The nodes where leases are returned as their trials end.
            n_returns: So many times.
            grants: How many leases of each shape Ray may be asked for; None if nobody shares the cluster.
        """
        self._returns_on, self._n_returns = returns_on, n_returns
        self._return(self.idle_on(list(returns_on)))
        if grants != self._grants:
            self._grants = grants
            self._do(lambda: self._asked.limit(grants))
        if known != self._known:
            self._known = known
            self._do(lambda: self._asked.show_beyond(known))

    def _return(self, idle: Sequence[Lease]) -> None:
        """Return as many of these as others wait for."""
        for lease in idle:
            if self._n_returns and not self._returns_on.isdisjoint(lease.nodes):
                self._n_returns -= 1
                self.drop(lease)

    def has_idle(self) -> bool:
        """Whether any is kept for the next trial."""
        return bool(self._idle)

    def idle_on(self, nodes: Sequence[str]) -> list[Lease]:
        """The idle ones with a bundle on one of these nodes, oldest first."""
        return [one for one in self._idle if not set(one.nodes).isdisjoint(nodes)]

    def make_room(
        self, node: str, total: Mapping[str, float], shape: Resources, nodes: Sequence[str]
    ) -> None:
        """Return idle ones that are in the way of this shape on these nodes, of which `node` has `total`."""
        needs = _sums(bundle for bundle, where in zip(shape.bundles, nodes, strict=True) if where == node)
        for lease in self.idle_on([node]):
            held = self.amounts_on(node)
            if all(held.get(name, 0.0) + amount <= total.get(name, 0.0) for name, amount in needs.items()):
                return
            self.drop(lease)

    def amounts_on(self, node: str) -> dict[str, float]:
        """What this run holds of a node."""
        return _sums(
            bundle
            for lease in self._given()
            for bundle, where in zip(lease.shape.bundles, lease.nodes, strict=True)
            if where == node
        )

    def places(self) -> Counter[tuple[Resources, tuple[str, ...]]]:
        """How many this run holds, by shape and nodes."""
        return Counter([(lease.shape, lease.nodes) for lease in self._given()])

    def amounts(self) -> dict[str, float]:
        """What this run holds of all nodes."""
        return _sums(bundle for lease in self._given() for bundle in lease.shape.bundles)

    def _given(self) -> list[Lease]:
        """Those that this run has from Ray, used yet or not."""
        return [*self.held, *[lease for _, lease in list(self._granted)], *list(self._asked.probing.values())]

    def close(self, patience_s: float) -> None:
        """Return all to Ray."""
        self._is_closed = True
        if self._thread is not None:
            self._requests.put(None)
            self._thread.join(patience_s)
        for lease in [*self.held, *[lease for _, lease in self._granted]]:
            if lease.group is not None:
                remove_group(lease.group)
        self._asked.close()
        self._granted.clear()
        self.held, self._idle = [], []

    # --- the thread's side ------------------------------------------------------------------

    def _do(self, request: Callable[[], None]) -> None:
        if self._is_closed:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="overtone-leases", daemon=True)
            self._thread.start()
        self._requests.put(request)

    def _serve(self) -> None:
        while not self._is_closed:
            try:
                request = self._requests.get(timeout=self._asked.patience_s())
                while request is not None:
                    request()
                    request = self._requests.get_nowait()
            except Empty:
                pass
            try:
                if not self._is_closed and cluster_connection.is_connected() and self._asked.look():
                    self._wake()
            except Exception:
                time.sleep(LOOK_EVERY_S)  # the head may be starting again; what runs goes on meanwhile

    def _on_granted(self, owner: Any, lease: Lease) -> None:
        self._granted.append((owner, lease))

    def _on_refused(self, owner: Any, why: str) -> None:
        self._refused.append((owner, why))
        self._wake()


def _sums(bundles: Iterable[Bundle]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for bundle in bundles:
        for name, amount in bundle:
            sums[name] = sums.get(name, 0.0) + amount
    return sums
