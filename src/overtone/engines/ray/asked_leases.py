"""Leases that were requested from Ray and are not granted yet: pending placement groups."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overtone.core.resources import Resources
from overtone.engines.ray.accelerators import Devices, by_bundle, probes_of
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.placement_groups import is_made, make_group, may_be_removed, nodes_of, remove_group

LOOK_EVERY_S = 0.01
LOOK_AT = 8
"""Maximum number of pending leases that are checked in each round, oldest first; of shown ones, by shape."""

LOOSE_AFTER_S = 5.0
"""Seconds until a lease that its nodes cannot grant, because others hold them, may lie anywhere."""

LOOSE_SHARED_S = 1.0
"""The same on a shared cluster: other runs leave resources that are due to this run for UNCLAIMED_S only."""

AGAIN_AFTER_S = 0.3
"""Seconds until Ray is asked again on a shared cluster; Ray itself retries only once a second."""

SPARE_S = 0.2
"""Maximum time to keep the request of a trial that no longer waits, for the next trial."""

CLOSE_WITHIN_S = 0.5
"""Maximum time that `close` waits for groups that Ray is making."""

SHOWN_EVERY_S = 0.5
"""Minimum time between updates of the demand that the autoscaler sees."""

SETTLED_S = 2.0
"""Seconds after a node has joined in which Ray may place any pending group at any moment."""

MOST_PROBES = 3
"""Maximum number of times to ask for the accelerators of a lease, if nodes are lost meanwhile."""


@dataclass(eq=False)
class _Wait:
    """A pending lease; without an owner it is spare, or only shows demand to the autoscaler.

    The nodes `beyond` are excluded for a lease that shows demand.
    """

    owner: Any
    shape: Resources
    nodes: tuple[str, ...]
    group: Any = None
    since: float = field(default_factory=time.monotonic)
    probes: list[Any] = field(default_factory=list)
    devices: list[Devices] = field(default_factory=list)
    failures: int = 0
    is_loose: bool = False
    is_withdrawn: bool = True
    asked_at: float = field(default_factory=time.monotonic)
    spare_since: float = 0.0
    patience_s: float = AGAIN_AFTER_S
    beyond: frozenset[str] = frozenset()


class AskedLeases:
    """Pending leases of a run, as placement groups in Ray's queue; used by one thread.

    Args:
        on_granted: Called with the owner (None for a lease that only showed demand) and the lease.
        on_refused: Called with the owner, and the reason why Ray does not make its lease.
        finds_devices: Returns whether to ask Ray which accelerators a lease of a shape holds.
        labels: The selector of the nodes of a lease that may lie anywhere.

    Attributes:
        probing: Granted leases whose devices are not known yet.
    """

    def __init__(
        self,
        on_granted: Callable[[Any, Lease], None],
        on_refused: Callable[[Any, str], None],
        finds_devices: Callable[[Resources], bool],
        labels: Mapping[str, str],
    ) -> None:
        self.probing: dict[_Wait, Lease] = {}
        self._on_granted, self._on_refused = on_granted, on_refused
        self._finds_devices, self._labels = finds_devices, labels
        self._waits: list[_Wait] = []
        self._to_show: Counter[Resources] = Counter()
        self._most_to_show: Counter[Resources] = Counter()  # since the last update of the shown demand
        self._wanted: dict[Resources, list[_Wait]] = {}
        self._shown_at = 0.0
        self._beyond: frozenset[str] = frozenset()
        self._joined_at = -math.inf
        self._limits: Mapping[Resources, int] | None = None
        self._has_unsent = False  # requests that the limit allows, after an error of Ray
        self._discarded: list[Any] = []  # groups that are to be removed

    def patience_s(self) -> float | None:
        """Return how many seconds the thread may wait before the next `look`; None for no limit."""
        if self._discarded or self._has_unsent or any(not wait.is_withdrawn for wait in self._waits):
            return LOOK_EVERY_S
        if self._wanted and not self._is_settled():
            return LOOK_EVERY_S
        return SHOWN_EVERY_S if self._wanted or self._most_to_show else None

    def close(self) -> None:
        """Withdraw all pending leases."""
        for waits in (self._waits, *self._wanted.values()):
            for wait in waits:
                self._withdraw(wait)
        give_up_at = time.monotonic() + CLOSE_WITHIN_S
        while self._discarded and time.monotonic() < give_up_at:
            time.sleep(LOOK_EVERY_S)
            self._remove_discarded()
        for group in self._discarded:
            remove_group(group)

    def create(self, owner: Any, shape: Resources, nodes: tuple[str, ...]) -> None:
        """Request a lease on these nodes from Ray, as soon as `limit` allows it."""
        for wait in self._waits:
            if wait.owner is None and (wait.shape, wait.nodes) == (shape, nodes):
                wait.owner = owner
                return
        wait = _Wait(owner, shape, nodes)
        self._waits.append(wait)
        try:
            self.limit(self._limits)
        except Exception as error:
            self._waits.remove(wait)
            self._on_refused(owner, f"Ray cannot hold {shape} for it: {type(error).__name__}: {error}")

    def cancel(self, owner: Any) -> None:
        """Release the owner's pending lease: it becomes spare."""
        for wait in self._waits:
            if wait.owner is owner:
                wait.owner, wait.spare_since = None, time.monotonic()

    def _drop_spare(self) -> None:
        before = time.monotonic() - SPARE_S
        for wait in [one for one in self._waits if one.owner is None and one.spare_since <= before]:
            self._waits.remove(wait)
            self._withdraw(wait)

    def show(self, shape: Resources, count: int) -> None:
        """Show the autoscaler soon that `count` more leases of this shape are wanted.

        The short drop in demand between the end of a trial and the start of the next is not shown.
        """
        self._to_show[shape] = count
        self._most_to_show[shape] = max(count, self._most_to_show[shape])

    def _show_now(self) -> None:
        for shape in {*self._wanted, *self._most_to_show}:
            self._show(shape, self._most_to_show[shape])
        self._to_show = +self._to_show
        self._most_to_show = Counter(self._to_show)

    def _show(self, shape: Resources, count: int) -> None:
        waits = self._wanted.setdefault(shape, [])
        pending = [one for one in waits if not one.probes]
        stale = [one for one in pending if one.beyond != self._beyond and self._is_settled()]
        surplus = pending[max(0, len(pending) + count - len(waits)) :]
        for wait in {*stale, *surplus}:
            waits.remove(wait)
            self._withdraw(wait)
        beyond = {"ray.io/node-id": f"!in({','.join(sorted(self._beyond))})"} if self._beyond else {}
        labels = [{**beyond, **self._labels}] * len(shape.bundles)
        while len(waits) < count:
            try:
                group = make_group(shape, labels)
            except Exception:
                break  # a trial that requests one gets the error
            if group is None:
                break
            waits.append(_Wait(None, shape, (), group, is_withdrawn=False, beyond=self._beyond))
        if not waits:
            del self._wanted[shape]

    def show_beyond(self, known: frozenset[str]) -> None:
        """Restrict shown demand to nodes other than these.

        If nodes have joined, what is shown by then stays for SETTLED_S: they may grant it, and Ray loses
        the resources of a group that is removed at that moment.
        """
        if self._beyond and known - self._beyond:
            self._joined_at = time.monotonic()
        self._beyond = known

    def _is_settled(self) -> bool:
        return time.monotonic() - self._joined_at > SETTLED_S

    def limit(self, grants: Mapping[Resources, int] | None) -> None:
        """Limit the leases in Ray's queue to `grants`, the oldest first; withdraw the others for now."""
        self._limits, self._has_unsent = grants, True
        left = Counter(grants or {})
        for wait in sorted(self._waits, key=lambda wait: wait.since):
            left[wait.shape] -= 1
            if grants is not None and left[wait.shape] < 0:
                if not wait.probes:
                    self._withdraw(wait)
            elif wait.is_withdrawn:
                self._ask(wait)
        self._has_unsent = False

    def _ask(self, wait: _Wait) -> None:
        """Request the group of a pending lease from Ray, and withdraw the earlier request."""
        if wait.is_loose:
            labels = [self._labels] * len(wait.shape.bundles)
        else:
            labels = [{"ray.io/node-id": node} for node in wait.nodes]
        self._withdraw(wait)
        wait.group = make_group(wait.shape, labels)
        wait.is_withdrawn, wait.asked_at = False, time.monotonic()

    def _withdraw(self, wait: _Wait) -> None:
        """Withdraw a request: its group is removed as soon as Ray is not making the group."""
        self.probing.pop(wait, None)
        wait.probes, wait.devices, wait.is_withdrawn = [], [], True
        if wait.group is not None:
            self.discard(wait.group)
            wait.group = None

    def discard(self, group: Any) -> None:
        """Remove a group as soon as Ray is not making it; after the loss of a node, Ray makes it again."""
        self._discarded.append(group)
        self._remove_discarded()

    def _remove_discarded(self) -> None:
        for group in [one for one in self._discarded if may_be_removed(one, self._is_settled())]:
            self._discarded.remove(group)
            remove_group(group)

    def look(self) -> bool:
        """Take the leases that Ray has granted meanwhile; return whether there were any."""
        self._remove_discarded()
        self._drop_spare()
        self.limit(self._limits)  # retries requests that could not be sent
        has_new = not self._is_settled() and self._take_shown()
        loose_after_s = LOOSE_AFTER_S if self._limits is None else LOOSE_SHARED_S
        for wait in self._waits[:LOOK_AT]:
            if self._is_there(wait):
                self._grant(wait, self._waits)
                has_new = True
            elif wait not in self._waits:
                continue  # it was refused
            elif wait.is_withdrawn or wait.probes:
                continue
            elif not wait.is_loose and time.monotonic() - wait.since > loose_after_s:
                self._loosen(wait)
                self._waits.remove(wait)
                self._waits.append(wait)  # others get their turn in the next rounds
            elif self._limits is not None and time.monotonic() - wait.asked_at > wait.patience_s:
                wait.patience_s *= 2
                self._ask(wait)
        if time.monotonic() - self._shown_at > SHOWN_EVERY_S:
            self._shown_at = time.monotonic()
            has_new |= self._take_shown()
            self._show_now()
        if not has_new and len(self._waits) > LOOK_AT:
            self._waits.append(self._waits.pop(0))
        return has_new

    def _take_shown(self) -> bool:
        """Take the leases that Ray has granted for shown demand; return whether there were any."""
        has_new = False
        for shape, waits in list(self._wanted.items()):
            for wait in [one for one in waits[:LOOK_AT] if self._is_there(one)]:
                self._grant(wait, waits)
                has_new = True
            if not waits:
                del self._wanted[shape]
        return has_new

    def _loosen(self, wait: _Wait) -> None:
        """Request the lease again, on any nodes."""
        wait.is_loose = True
        self._ask(wait)

    def _is_there(self, wait: _Wait) -> bool:
        """Return whether Ray has granted a lease and reported its accelerators."""
        if wait.is_withdrawn or (wait.group is not None and not is_made(wait.group)):
            return False
        if not wait.probes and self._finds_devices(wait.shape):
            wait.probes = probes_of(wait.shape, wait.group)
            if wait.probes:
                self.probing[wait] = Lease(wait.shape, _where(wait), wait.group)
        if not wait.probes:
            return True
        import ray

        if ray.wait(wait.probes, num_returns=len(wait.probes), timeout=0)[1]:
            return False
        try:
            wait.devices = ray.get(wait.probes)
        except Exception as error:
            wait.failures += 1
            if wait.failures < MOST_PROBES or wait.owner is None:
                self._loosen(wait)  # its node was lost
            else:
                self._waits.remove(wait)
                self._withdraw(wait)
                self._on_refused(wait.owner, f"Ray does not say which accelerators it has: {error}")
            return False
        return True

    def _grant(self, wait: _Wait, waits: list[_Wait]) -> None:
        """Hand a lease over; it stays in `waits` if Ray does not say where it lies."""
        devices = by_bundle(wait.shape, wait.devices) if wait.probes else None
        lease = Lease(wait.shape, _where(wait), wait.group, devices)
        waits.remove(wait)
        self._on_granted(wait.owner, lease)
        self.probing.pop(wait, None)


def _where(wait: _Wait) -> tuple[str, ...]:
    return nodes_of(wait.shape, wait.group) if wait.is_loose or not wait.nodes else wait.nodes
