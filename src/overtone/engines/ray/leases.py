"""The leases of this run on a Ray cluster: placement groups, kept for the next trial.

Calls to Ray may be slow. A separate thread makes them; it exchanges requests and results with
the engine's thread.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from overtone.core.resources import Bundle, Resources
from overtone.engines.ray import cluster_connection
from overtone.engines.ray.asked_leases import LOOK_EVERY_S, AskedLeases
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.placement_groups import remove_group

MOST_WANTED = 64
"""Maximum number of leases that are requested at once to show demand to the autoscaler."""


class Leases:
    """The leases of one run.

    Args:
        wake: Called from the thread when `granted` or `refused` has new entries.
        finds_devices: Returns whether to ask Ray which accelerators a lease of a shape holds.
        labels: The selector of the nodes of a lease that may lie anywhere.

    Attributes:
        held: All leases that Ray has granted and the engine has taken.
        n_changes: Number of changes of `held`.
    """

    def __init__(
        self,
        wake: Callable[[], None],
        finds_devices: Callable[[Resources], bool] = lambda shape: True,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self._wake = wake
        self._requests: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._granted: deque[tuple[Any, Lease]] = deque()
        self._n_granted = 0  # since the beginning; written by the thread
        self._refused: deque[tuple[Any, str]] = deque()
        self._idle: list[Lease] = []
        self._dropped: deque[Any] = deque()  # groups that the thread is to remove
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
        """Take and return an idle lease of this shape on these nodes; None if there is none."""
        for at in range(len(self._idle) - 1, -1, -1):
            lease = self._idle[at]
            if lease.fits(shape, nodes):
                del self._idle[at]
                return lease
        return None

    def ask(self, owner: Any, shape: Resources, nodes: tuple[str, ...]) -> None:
        """Request a lease from Ray; `granted` returns it, or an earlier lease that showed demand."""
        self._do(lambda: self._asked.create(owner, shape, nodes))

    def forget(self, owner: Any) -> None:
        """Cancel the request of an owner that does not wait any more."""
        self._do(lambda: self._asked.cancel(owner))

    def want(self, shape: Resources, count: int) -> None:
        """Show the autoscaler that `count` more leases of this shape are wanted, at most MOST_WANTED."""
        self._do(lambda: self._asked.show(shape, min(count, MOST_WANTED)))

    def granted(self) -> list[tuple[Any, Lease]]:
        """Return (owner, lease) for the leases granted since the last call.

        The owner is None for a lease that showed demand.
        """
        found = []
        while self._granted:
            owner, lease = self._granted.popleft()
            self.held.append(lease)
            self.n_changes += 1
            found.append((owner, lease))
        return found

    def refused(self) -> list[tuple[Any, str]]:
        """Return (owner, reason) for the requests that were refused since the last call."""
        return [self._refused.popleft() for _ in range(len(self._refused))]

    def put_back(self, lease: Lease) -> bool:
        """Keep a lease for the next trial, unless other runs wait for it; return whether it was kept."""
        lease.idle_since = time.monotonic()
        self._idle.append(lease)
        self._return([lease])
        return lease in self._idle

    def use(self, lease: Lease) -> None:
        """Remove a lease from the idle ones, since a trial uses it now."""
        self._idle.remove(lease)

    def drop(self, lease: Lease) -> None:
        """Return a lease to Ray."""
        if lease in self._idle:
            self._idle.remove(lease)
        if lease in self.held:
            self.held.remove(lease)
            self.n_changes += 1
            if lease.group is not None:
                self._dropped.append(lease.group)
                self._do(self._discard_dropped)

    def drop_idle(self, before: float) -> bool:
        """Drop idle leases that were put back before this time; return whether there were any."""
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
        """Restrict requests to the leases that are due to this run, and return leases that are due to others.

        Args:
            known: The current nodes (Ray's ids). Leases that show demand may lie on other nodes only,
                which the autoscaler adds.
            returns_on: The nodes where leases are returned when their trials end.
            n_returns: Number of leases to return.
            grants: Maximum number of leases to request, by shape; None if no other run shares the cluster.
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
        """Return idle leases to Ray, as many as other runs wait for."""
        for lease in idle:
            if self._n_returns and not self._returns_on.isdisjoint(lease.nodes):
                self._n_returns -= 1
                self.drop(lease)

    def has_idle(self) -> bool:
        """Return whether any lease is kept for the next trial."""
        return bool(self._idle)

    def idle_on(self, nodes: Sequence[str]) -> list[Lease]:
        """Return the idle leases with a bundle on one of these nodes, oldest first."""
        return [one for one in self._idle if not set(one.nodes).isdisjoint(nodes)]

    def make_room(
        self, node: str, total: Mapping[str, float], shape: Resources, nodes: Sequence[str]
    ) -> None:
        """Return idle leases of `node` to Ray until a shape fits there.

        Args:
            node: The node (Ray's id) to make room on.
            total: Total resources of the node.
            shape: Shape of the next trial.
            nodes: The node of each bundle of the shape.
        """
        needs = _sums(bundle for bundle, where in zip(shape.bundles, nodes, strict=True) if where == node)
        for lease in self.idle_on([node]):
            held = self.amounts_on(node)
            if all(held.get(name, 0.0) + amount <= total.get(name, 0.0) for name, amount in needs.items()):
                return
            self.drop(lease)

    def amounts_on(self, node: str) -> dict[str, float]:
        """Return the amounts that this run holds on a node."""
        return _sums(
            bundle
            for lease in self._given()
            for bundle, where in zip(lease.shape.bundles, lease.nodes, strict=True)
            if where == node
        )

    def places(self) -> Counter[tuple[Resources, tuple[str, ...]]]:
        """Return the number of leases that this run holds, by shape and nodes."""
        return Counter([(lease.shape, lease.nodes) for lease in self._given()])

    def amounts(self) -> dict[str, float]:
        """Return the amounts that this run holds on all nodes together."""
        return _sums(bundle for lease in self._given() for bundle in lease.shape.bundles)

    def _given(self) -> list[Lease]:
        """Return all leases granted by Ray, including those that the engine has not taken yet."""
        return [*self.held, *[lease for _, lease in list(self._granted)], *list(self._asked.probing.values())]

    def close(self, patience_s: float) -> None:
        """Return all leases to Ray; wait at most `patience_s` seconds for the thread."""
        self._is_closed = True
        if self._thread is not None:
            self._requests.put(None)
            self._thread.join(patience_s)
        held = [*self.held, *[lease for _, lease in self._granted]]
        for group in [*[lease.group for lease in held if lease.group is not None], *self._dropped]:
            remove_group(group)
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
            before = self._n_granted
            try:
                self._take_requests()
                if not self._is_closed and cluster_connection.is_connected():
                    self._asked.look()
            except Exception:
                time.sleep(LOOK_EVERY_S)  # the head may be restarting; running trials continue meanwhile
            if self._n_granted > before:  # also if an error followed
                self._wake()

    def _take_requests(self) -> None:
        """Carry out the engine's requests; wait for the first one as long as nothing else is due."""
        with suppress(Empty):
            request = self._requests.get(timeout=self._asked.patience_s())
            while request is not None:
                request()
                request = self._requests.get_nowait()

    def _discard_dropped(self) -> None:
        while self._dropped:
            self._asked.discard(self._dropped.popleft())

    def _on_granted(self, owner: Any, lease: Lease) -> None:
        self._granted.append((owner, lease))
        self._n_granted += 1

    def _on_refused(self, owner: Any, why: str) -> None:
        self._refused.append((owner, why))
        self._wake()


def _sums(bundles: Iterable[Bundle]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for bundle in bundles:
        for name, amount in bundle:
            sums[name] = sums.get(name, 0.0) + amount
    return sums
