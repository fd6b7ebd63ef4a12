"""Resources of a Ray cluster that this run holds: placement groups, kept warm for the next trial.

A thread talks to Ray, which may take its time; the engine's thread asks and is told.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from overtone.core.resources import Bundle, Resources
from overtone.engines.ray import connecting
from overtone.engines.ray.accelerators import Devices, on_first_node, probes_of
from overtone.engines.ray.groups import make_group, nodes_of, remove_group

LOOK_EVERY_S = 0.01
LOOK_AT = 8
"""So many that wait are looked at in each round, the oldest ones."""

LOOSE_AFTER_S = 5.0
"""A lease that its nodes cannot give for so long, because others took it, may lie anywhere."""

MOST_PROBES = 3
"""Ray is asked up to this often for the accelerators of a lease, if nodes are lost meanwhile."""

MOST_WANTED = 64
"""So many leases are asked for at once to show the autoscaler what is wanted."""


@dataclass(eq=False)
class Lease:
    """A placement group.

    Attributes:
        shape: What it holds.
        nodes: The node (Ray's id) of each bundle; "" for an empty bundle.
        group: Ray's handle; None where there is nothing to hold.
        devices: The variables that show its accelerators to a trial; None if it has none.
        idle_since: When it was given back, on the monotonic clock.
    """

    shape: Resources
    nodes: tuple[str, ...]
    group: Any = None
    devices: Devices | None = None
    idle_since: float = 0.0

    def fits(self, shape: Resources, nodes: Sequence[str]) -> bool:
        """Whether it holds this shape, on these nodes."""
        return self.shape == shape and all(
            mine == theirs or not bundle
            for bundle, mine, theirs in zip(shape.bundles, self.nodes, nodes, strict=True)
        )


@dataclass(eq=False)
class _Wait:
    """One that Ray has not given yet; without an owner it is there to be seen by the autoscaler."""

    owner: Any
    shape: Resources
    nodes: tuple[str, ...]
    group: Any
    since: float
    probes: list[Any] = field(default_factory=list)
    devices: list[Devices] = field(default_factory=list)
    failures: int = 0
    is_loose: bool = False


class Leases:
    """The leases of one run.

    Args:
        wake: Called, from the thread, when `granted` has something.
        finds_devices: Whether to ask Ray which accelerators a lease holds.
        labels: The selector of the nodes of a lease that may lie anywhere.
    """

    def __init__(
        self, wake: Callable[[], None], finds_devices: bool = True, labels: Mapping[str, str] | None = None
    ) -> None:
        self._wake = wake
        self._finds_devices = finds_devices
        self._labels = dict(labels or {})
        self._requests: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._granted: deque[tuple[Any, Lease]] = deque()
        self._refused: deque[tuple[Any, str]] = deque()
        self._idle: list[Lease] = []
        self.held: list[Lease] = []
        self._waits: list[_Wait] = []  # the thread's
        self._wanted: dict[Resources, list[_Wait]] = {}  # the thread's
        self._probing: dict[_Wait, Lease] = {}  # the thread's: given, without their devices yet
        self._shown_at = 0.0
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
        self._do(lambda: self._create(owner, shape, nodes))

    def forget(self, owner: Any) -> None:
        """The owner does not wait any more."""
        self._do(lambda: self._cancel(owner))

    def want(self, shape: Resources, count: int) -> None:
        """Let the autoscaler see that so many more of this shape are wanted."""
        self._do(lambda: self._show(shape, min(count, MOST_WANTED)))

    def granted(self) -> list[tuple[Any, Lease]]:
        """(owner, lease) of those that are there since the last call; the owner is None for a wanted one."""
        found = []
        while self._granted:
            owner, lease = self._granted.popleft()
            self.held.append(lease)
            found.append((owner, lease))
        return found

    def refused(self) -> list[tuple[Any, str]]:
        """(owner, why) of those that Ray does not make, since the last call."""
        return [self._refused.popleft() for _ in range(len(self._refused))]

    def put_back(self, lease: Lease) -> None:
        """Keep it for the next trial."""
        lease.idle_since = time.monotonic()
        self._idle.append(lease)

    def drop(self, lease: Lease) -> None:
        """Return it to Ray."""
        if lease in self._idle:
            self._idle.remove(lease)
        if lease in self.held:
            self.held.remove(lease)
            if lease.group is not None:
                self._do(lambda: remove_group(lease.group))

    def drop_idle(self, before: float) -> bool:
        """Return those that were given back before this time; whether there were any."""
        old = [one for one in self._idle if one.idle_since < before]
        for lease in old:
            self.drop(lease)
        return bool(old)

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

    def amounts(self) -> dict[str, float]:
        """What this run holds of all nodes."""
        return _sums(bundle for lease in self._given() for bundle in lease.shape.bundles)

    def _given(self) -> list[Lease]:
        """Those that this run has from Ray, used yet or not."""
        return [*self.held, *[lease for _, lease in list(self._granted)], *list(self._probing.values())]

    def close(self, patience_s: float) -> None:
        """Return all to Ray."""
        self._is_closed = True
        if self._thread is not None:
            self._requests.put(None)
            self._thread.join(patience_s)
        groups = [one.group for one in self.held] + [one.group for one in self._waits]
        groups += [lease.group for _, lease in self._granted]
        groups += [one.group for waits in self._wanted.values() for one in waits]
        for group in groups:
            if group is not None:
                remove_group(group)
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
            timeout = LOOK_EVERY_S if self._waits else 0.5 if self._wanted else None
            try:
                request = self._requests.get(timeout=timeout)
                while request is not None:
                    request()
                    request = self._requests.get_nowait()
            except Empty:
                pass
            try:
                if not self._is_closed and connecting.is_connected():
                    self._look()
            except Exception:
                time.sleep(LOOK_EVERY_S)  # the head may be starting again; what runs goes on meanwhile

    def _create(self, owner: Any, shape: Resources, nodes: tuple[str, ...]) -> None:
        try:
            group = make_group(shape, [{"ray.io/node-id": node} for node in nodes])
        except Exception as error:
            self._refuse(owner, f"Ray cannot hold {shape} for it: {type(error).__name__}: {error}")
            return
        self._waits.append(_Wait(owner, shape, nodes, group, time.monotonic()))
        self._shown_at = 0.0  # a wanted one, asked for earlier, may have what this one waits for

    def _refuse(self, owner: Any, why: str) -> None:
        self._refused.append((owner, why))
        self._wake()

    def _cancel(self, owner: Any) -> None:
        for wait in [one for one in self._waits if one.owner is owner]:
            self._waits.remove(wait)
            self._probing.pop(wait, None)
            if wait.group is not None:
                remove_group(wait.group)

    def _show(self, shape: Resources, count: int) -> None:
        waits = self._wanted.setdefault(shape, [])
        while len(waits) > count:
            wait = waits.pop()
            self._probing.pop(wait, None)
            remove_group(wait.group)
        labels = [self._labels] * len(shape.bundles)
        while len(waits) < count:
            try:
                group = make_group(shape, labels)
            except Exception:
                break  # a trial that asks for one is told
            if group is None:
                break
            waits.append(_Wait(None, shape, (), group, time.monotonic()))
        if not waits:
            del self._wanted[shape]

    def _look(self) -> None:
        has_new = False
        for wait in self._waits[:LOOK_AT]:
            if self._is_there(wait):
                self._waits.remove(wait)
                self._grant(wait)
                has_new = True
            elif wait not in self._waits:
                continue  # it was refused
            elif not (wait.is_loose or wait.probes) and time.monotonic() - wait.since > LOOSE_AFTER_S:
                self._loosen(wait)
                self._waits.remove(wait)
                self._waits.append(wait)  # others get their turn to be looked at
        if self._wanted and time.monotonic() - self._shown_at > 0.5:
            self._shown_at = time.monotonic()
            for shape, waits in list(self._wanted.items()):
                for wait in [one for one in waits if self._is_there(one)]:
                    waits.remove(wait)
                    self._grant(wait)
                    has_new = True
                if not waits:
                    del self._wanted[shape]
        if has_new:
            self._wake()
        elif len(self._waits) > LOOK_AT:
            self._waits.append(self._waits.pop(0))

    def _loosen(self, wait: _Wait) -> None:
        """Ask for another one, wherever it may lie."""
        wait.is_loose = True
        self._probing.pop(wait, None)
        wait.probes, wait.devices = [], []
        remove_group(wait.group)
        wait.group = make_group(wait.shape, [self._labels] * len(wait.shape.bundles))

    def _is_there(self, wait: _Wait) -> bool:
        """Whether Ray has given it, and said which accelerators it holds."""
        import ray

        if wait.group is not None and not wait.group.wait(0):
            return False
        if self._finds_devices and not wait.probes:
            wait.probes = probes_of(wait.shape, wait.group)
            if wait.probes:
                self._probing[wait] = Lease(wait.shape, _where(wait), wait.group)
        if wait.probes and ray.wait(wait.probes, num_returns=len(wait.probes), timeout=0)[1]:
            return False
        try:
            wait.devices = ray.get(wait.probes) if wait.probes else []
        except Exception as error:
            wait.failures += 1
            if wait.failures < MOST_PROBES or wait.owner is None:
                self._loosen(wait)  # its node was lost
            else:
                self._cancel(wait.owner)
                self._refuse(wait.owner, f"Ray does not say which accelerators it has: {error}")
            return False
        return True

    def _grant(self, wait: _Wait) -> None:
        nodes = _where(wait)
        devices = on_first_node(wait.shape, nodes, wait.devices) if wait.probes else None
        self._granted.append((wait.owner, Lease(wait.shape, nodes, wait.group, devices)))
        self._probing.pop(wait, None)


def _where(wait: _Wait) -> tuple[str, ...]:
    return nodes_of(wait.shape, wait.group) if wait.is_loose or not wait.nodes else wait.nodes


def _sums(bundles: Iterable[Bundle]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for bundle in bundles:
        for name, amount in bundle:
            sums[name] = sums.get(name, 0.0) + amount
    return sums
