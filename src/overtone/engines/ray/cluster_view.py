"""View of a Ray cluster: the nodes that are alive, and their total and free resources."""

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
"""Names of resources in bundles, by Ray's names; other resources have the same name in both."""


@dataclass(frozen=True)
class NodeFacts:
    """A node that is alive.

    Attributes:
        id: Ray's id of the node.
        ip: IP address of the node.
        hostname: Hostname of the node.
        total: Resources of the node, by the names that bundles use.
        free: Resources of the node that are not in use.
        labels: Labels of the node.
        leaves_in_s: Seconds until the node leaves, if Ray drains it; infinite without a deadline,
            None if Ray does not drain it.
    """

    id: str
    ip: str
    hostname: str
    total: Mapping[str, float]
    free: Mapping[str, float]
    labels: Mapping[str, str]
    leaves_in_s: float | None = None


class Watch:
    """A thread that looks at the cluster every LOOK_EVERY_S seconds.

    Args:
        wake: Called from the thread after each look that found nodes.
        look: Returns the nodes.

    Attributes:
        answered_at: End of the last look, on the monotonic clock.
    """

    def __init__(self, wake: Callable[[], None], look: Callable[[], list[NodeFacts]]) -> None:
        self._wake, self._look = wake, look
        self.answered_at = time.monotonic()
        self._newest: deque[list[NodeFacts]] = deque(maxlen=1)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="overtone-cluster", daemon=True)

    def start(self) -> list[NodeFacts]:
        """Start the thread and return the current nodes; `newest` has the results of later looks."""
        found = self._look()
        self.answered_at = time.monotonic()
        self._thread.start()
        return found

    def newest(self) -> list[NodeFacts] | None:
        """Return the nodes of the newest look since the last call; None if there was no look."""
        try:
            return self._newest.pop()
        except IndexError:
            return None

    def stop(self) -> None:
        """Stop the thread."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_EVERY_S):
            try:
                found = self._look()
            except Exception:
                continue  # the head may be restarting; running trials continue meanwhile
            self.answered_at = time.monotonic()
            if not found:
                continue  # this process has left the cluster
            self._newest.append(found)
            self._wake()


def look() -> list[NodeFacts]:
    """Return the nodes that are alive now; none if this process is not connected."""
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
    """Return amounts by the names that bundles use, without Ray's entries for nodes and groups."""
    return {
        OUR_NAMES.get(name, name): float(amount)
        for name, amount in resources.items()
        if not name.startswith(("node:", "bundle_group_")) and "_group_" not in name
    }


def _free() -> Mapping[str, Mapping[str, float]]:
    """Return the free resources by node; Ray has no public function for them."""
    try:
        from ray._private.state import available_resources_per_node
    except ImportError:
        return {}
    found: Mapping[str, Mapping[str, float]] = available_resources_per_node()
    return found


def capped(nodes: Mapping[str, Mapping[str, float]], most: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Return `nodes` with their amounts reduced so that each sum is at most that in `most`."""
    left = dict(most)
    found: dict[str, dict[str, float]] = {}
    for node, has in nodes.items():
        found[node] = dict(has)
        for name in left.keys() & has.keys():
            found[node][name] = max(0.0, min(has[name], left[name]))
            left[name] -= found[node][name]
    return found
