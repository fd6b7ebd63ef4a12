"""The leases that Ray was asked for and has not given yet: placement groups that are pending."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overtone.core.resources import Resources
from overtone.engines.ray.accelerators import Devices, on_first_node, probes_of
from overtone.engines.ray.groups import make_group, nodes_of, remove_group
from overtone.engines.ray.lease import Lease

LOOK_EVERY_S = 0.01
LOOK_AT = 8
"""So many that wait are looked at in each round, the oldest ones."""

LOOSE_AFTER_S = 5.0
"""A lease that its nodes cannot give for so long, because others took it, may lie anywhere."""

AGAIN_AFTER_S = 0.3
"""Ray looks once a second for what a lease waits for; on a shared cluster it is asked again this early."""

SETTLED_S = 0.3
"""A group is not removed sooner after it was made: Ray may lose what it has reserved for it so far."""

MOST_PROBES = 3
"""Ray is asked up to this often for the accelerators of a lease, if nodes are lost meanwhile."""


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
    is_withdrawn: bool = False
    asked_at: float = field(default_factory=time.monotonic)
    patience_s: float = AGAIN_AFTER_S


class AskedLeases:
    """What waits in Ray's queue; used by one thread.

    Args:
        on_granted: Called with the owner (None for one that was only to be seen) and the lease.
        on_refused: Called with the owner, and why Ray does not make its lease.
        finds_devices: Whether to ask Ray which accelerators a lease holds.
        labels: The selector of the nodes of a lease that may lie anywhere.

    Attributes:
        probing: Given, without their devices yet.
    """

    def __init__(
        self,
        on_granted: Callable[[Any, Lease], None],
        on_refused: Callable[[Any, str], None],
        finds_devices: bool,
        labels: Mapping[str, str],
    ) -> None:
        self.probing: dict[_Wait, Lease] = {}
        self._on_granted, self._on_refused = on_granted, on_refused
        self._finds_devices, self._labels = finds_devices, labels
        self._waits: list[_Wait] = []
        self._wanted: dict[Resources, list[_Wait]] = {}
        self._shown_at = 0.0
        self._beyond: frozenset[str] = frozenset()
        self._limits: Mapping[Resources, int] | None = None
        self._has_unsettled = False

    def patience_s(self) -> float | None:
        """How long the thread may wait before the next look; None for ever."""
        is_asking = any(not wait.is_withdrawn for wait in self._waits)
        return LOOK_EVERY_S if is_asking else 0.5 if self._wanted else None

    def groups(self) -> list[Any]:
        """All that wait."""
        return [wait.group for waits in (self._waits, *self._wanted.values()) for wait in waits]

    def create(self, owner: Any, shape: Resources, nodes: tuple[str, ...]) -> None:
        """Ask Ray for a lease on these nodes."""
        try:
            group = make_group(shape, [{"ray.io/node-id": node} for node in nodes])
        except Exception as error:
            self._on_refused(owner, f"Ray cannot hold {shape} for it: {type(error).__name__}: {error}")
            return
        wait = _Wait(owner, shape, nodes, group, time.monotonic())
        self._waits.append(wait)
        if self._limits is not None:
            self.limit(self._limits)
        self._shown_at = 0.0  # a wanted one, asked for earlier, may have what this one waits for

    def cancel(self, owner: Any) -> None:
        """The owner does not wait any more."""
        for wait in [one for one in self._waits if one.owner is owner]:
            self._waits.remove(wait)
            self.probing.pop(wait, None)
            if wait.group is not None:
                remove_group(wait.group)

    def show(self, shape: Resources, count: int) -> None:
        """Let the autoscaler see that so many more of this shape are wanted."""
        waits = self._wanted.setdefault(shape, [])
        while len(waits) > count:
            wait = waits.pop()
            self.probing.pop(wait, None)
            remove_group(wait.group)
        beyond = {"ray.io/node-id": f"!in({','.join(sorted(self._beyond))})"} if self._beyond else {}
        labels = [{**beyond, **self._labels}] * len(shape.bundles)
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

    def show_beyond(self, known: frozenset[str]) -> None:
        """Let what is wanted lie on other nodes than these only."""
        self._beyond = known
        for shape, waits in list(self._wanted.items()):
            count = len(waits)
            self.show(shape, 0)
            self.show(shape, count)

    def limit(self, grants: Mapping[Resources, int] | None) -> None:
        """Let no more than these wait in Ray's queue, the oldest first; the others are withdrawn for now."""
        self._limits, self._has_unsettled = grants, False
        left = Counter(grants or {})
        for wait in sorted(self._waits, key=lambda wait: wait.since):
            left[wait.shape] -= 1
            if grants is not None and left[wait.shape] < 0:
                self._take_back(wait)
            elif wait.is_withdrawn:
                self._ask_again(wait)

    def _take_back(self, wait: _Wait) -> None:
        if wait.group is not None and not wait.probes and not wait.is_withdrawn:
            if time.monotonic() - wait.asked_at < SETTLED_S:
                self._has_unsettled = True
                return
            wait.is_withdrawn = True
            remove_group(wait.group)

    def _ask_again(self, wait: _Wait) -> None:
        if not wait.is_withdrawn:
            remove_group(wait.group)
        labels = [self._labels if wait.is_loose else {"ray.io/node-id": node} for node in wait.nodes]
        wait.group, wait.is_withdrawn = make_group(wait.shape, labels), False
        wait.asked_at = time.monotonic()
        wait.patience_s *= 2

    def look(self) -> bool:
        """Take what Ray has given meanwhile; whether there was anything."""
        if self._has_unsettled:
            self.limit(self._limits)
        has_new = False
        for wait in self._waits[:LOOK_AT]:
            if self._is_there(wait):
                self._waits.remove(wait)
                self._grant(wait)
                has_new = True
            elif wait not in self._waits:
                continue  # it was refused
            elif wait.is_withdrawn or wait.probes:
                continue
            elif self._beyond and time.monotonic() - wait.asked_at > wait.patience_s:
                self._ask_again(wait)
            elif not wait.is_loose and time.monotonic() - wait.since > LOOSE_AFTER_S:
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
        if not has_new and len(self._waits) > LOOK_AT:
            self._waits.append(self._waits.pop(0))
        return has_new

    def _loosen(self, wait: _Wait) -> None:
        """Ask for another one, wherever it may lie."""
        wait.is_loose = True
        self.probing.pop(wait, None)
        wait.probes, wait.devices = [], []
        remove_group(wait.group)
        wait.group = make_group(wait.shape, [self._labels] * len(wait.shape.bundles))

    def _is_there(self, wait: _Wait) -> bool:
        """Whether Ray has given it, and said which accelerators it holds."""
        import ray

        if wait.is_withdrawn or (wait.group is not None and not wait.group.wait(0)):
            return False
        if self._finds_devices and not wait.probes:
            wait.probes = probes_of(wait.shape, wait.group)
            if wait.probes:
                self.probing[wait] = Lease(wait.shape, _where(wait), wait.group)
        if wait.probes and ray.wait(wait.probes, num_returns=len(wait.probes), timeout=0)[1]:
            return False
        try:
            wait.devices = ray.get(wait.probes) if wait.probes else []
        except Exception as error:
            wait.failures += 1
            if wait.failures < MOST_PROBES or wait.owner is None:
                self._loosen(wait)  # its node was lost
            else:
                self.cancel(wait.owner)
                self._on_refused(wait.owner, f"Ray does not say which accelerators it has: {error}")
            return False
        return True

    def _grant(self, wait: _Wait) -> None:
        nodes = _where(wait)
        devices = on_first_node(wait.shape, nodes, wait.devices) if wait.probes else None
        self._on_granted(wait.owner, Lease(wait.shape, nodes, wait.group, devices))
        self.probing.pop(wait, None)


def _where(wait: _Wait) -> tuple[str, ...]:
    return nodes_of(wait.shape, wait.group) if wait.is_loose or not wait.nodes else wait.nodes
