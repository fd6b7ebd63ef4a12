"""The engine for a Ray cluster, joined to what runs the trials of each node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.core.protocols import Engine


def ray_cluster(
    address: str | None = None,
    *,
    max_resources: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    priority: float = 0,
    resource_timeout_s: float | None = None,
    runtime_env: Mapping[str, Any] | None = None,
    idle_s: float = 5.0,
) -> Engine:
    """An engine for one run on a Ray cluster: `engine=tune.ray_cluster(max_resources={"gpu": 8})`.

    Args:
        address: The cluster's; by default the one that this process works with, or that of
            RAY_ADDRESS, or a new one on this machine.
        max_resources: Of all that the cluster has, trials use no more than this at once.
        labels: Only nodes whose labels meet this selector are used, such as {"team": "vision"} or
            {"zone": "!in(a, b)"}.
        priority: While a run of higher priority waits for resources on the same cluster, this one
            starts no trials with them. Trials that run are left alone.
        resource_timeout_s: The run ends with an error after so long in which no trial ran and
            those that wait need what no node has; by default they wait for ever.
        runtime_env: Of the workers on all nodes, as for `ray.init`, where this process has not
            initialised Ray itself.
        idle_s: So long resources that no trial needs are kept for the next one.
    """
    from overtone.engines.local.on_node import LocalOnNodes
    from overtone.engines.ray import Ray

    return Ray(
        LocalOnNodes(), address, max_resources, labels, priority, resource_timeout_s, runtime_env, idle_s
    )
