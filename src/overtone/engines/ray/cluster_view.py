"""Which nodes a Ray cluster has now, and what of them is free for this run."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from overtone.engines.ray import cluster_connection, drains

LOOK_EVERY_S = 0.5
OUR_NAMES = {"CPU": "cpu", "GPU": "gpu"}
"""What bundles call a resource, by what Ray calls it; the others have one name."""


@dataclass(frozen=True)
class NodeFacts:
    """A node that is alive.

    Attributes:
        id: Ray's.
        ip: Its address.
        hostname: Its name.
        total: What it has, by the names that bundles use.
        free: What of it nobody holds.
        labels: Its labels.
        leaves_in_s: How long until it goes away, if Ray drains it; infinite without a deadline.
    """

    id: str
    ip: str
    hostname: str
    total: Mapping[str, float]
    free: Mapping[str, float]
    labels: Mapping[str, str]
    leaves_in_s: float | None = None


class Watch:
    """Looks at the cluster all the time, in a thread.

    Args:
        wake: Called, from the thread, when there was a look.
        look: Gives the nodes.

    Attributes:
        answered_at: When the last look was over, on the monotonic clock.
    """

    def __init__(self, wake: Callable[[], None], look: Callable[[], list[NodeFacts]]) -> None:
        self._wake, self._look = wake, look
        self.answered_at = time.monotonic()
        self._newest: deque[list[NodeFacts]] = deque(maxlen=1)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="overtone-cluster", daemon=True)

    def start(self) -> list[NodeFacts]:
        """The nodes now; those of later are in `newest`."""
        found = self._look()
        self.answered_at = time.monotonic()
        self._thread.start()
        return found

    def newest(self) -> list[NodeFacts] | None:
        """What was seen since the last call."""
        try:
            return self._newest.pop()
        except IndexError:
            return None

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_EVERY_S):
            try:
                found = self._look()
            except Exception:
                continue  # the head may be starting again; what runs goes on meanwhile
            self.answered_at = time.monotonic()
            if not found:
                continue  # this process has left the cluster
            self._newest.append(found)
            self._wake()


def look() -> list[NodeFacts]:
    """The nodes that are alive now."""
    import ray

    if not cluster_connection.is_connected():
        return []
    free, leaving = _free(), drains.seconds_left()
    return [
        NodeFacts(
            one["NodeID"],
            one["NodeManagerAddress"],
            one["NodeManagerHostname"],
            amounts(one["Resources"]),
            amounts(free.get(one["NodeID"], one["Resources"])),
            one.get("Labels") or {},
            leaving.get(one["NodeID"]),
        )
        for one in ray.nodes()
        if one["Alive"]
    ]


def amounts(resources: Mapping[str, float]) -> dict[str, float]:
    """Amounts by the names that bundles use, without what stands for nodes and placement groups."""
    return {
        OUR_NAMES.get(name, name): float(amount)
        for name, amount in resources.items()
        if not name.startswith(("node:", "bundle_group_")) and "_group_" not in name
    }


def _free() -> Mapping[str, Mapping[str, float]]:
    """What nobody holds, by node; Ray has no public name for it."""
    try:
        from ray._private.state import available_resources_per_node
    except ImportError:
        return {}
    found: Mapping[str, Mapping[str, float]] = available_resources_per_node()
    return found


def capped(nodes: Mapping[str, Mapping[str, float]], most: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """`nodes` with no more in sum than `most` says, by resource name."""
    left = dict(most)
    found: dict[str, dict[str, float]] = {}
    for node, has in nodes.items():
        found[node] = dict(has)
        for name in left.keys() & has.keys():
            found[node][name] = max(0.0, min(has[name], left[name]))
            left[name] -= found[node][name]
    return found
