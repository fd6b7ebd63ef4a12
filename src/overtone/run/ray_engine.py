"""The engine for a Ray cluster, connected to the workers that run trials on each node."""

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
    """Return an engine for one run on a Ray cluster: `engine=tune.ray_cluster(max_resources={"gpu": 8})`.

    Args:
        address: Address of the cluster. Default: the cluster that this process is connected to,
            else RAY_ADDRESS, else a new cluster on this machine.
        max_resources: Largest amounts of the cluster's resources that trials use at the same time.
        labels: Only nodes whose labels meet this selector are used, such as {"team": "vision"} or
            {"zone": "!in(a, b)"}.
        priority: While a run of higher priority waits for resources on the same cluster, this one
            starts no trials with them. Running trials continue.
        resource_timeout_s: Seconds without a running trial, while waiting trials fit on no node,
            after which the run ends with an error. Default: no limit.
        runtime_env: Runtime environment of the workers on all nodes, as for `ray.init`, if this
            process has not initialised Ray itself.
        idle_s: Seconds for which unused resources are kept for the next trial.
    """
    from overtone.engines.local.on_node import LocalOnNodes
    from overtone.engines.ray import Ray

    return Ray(
        LocalOnNodes(), address, max_resources, labels, priority, resource_timeout_s, runtime_env, idle_s
    )
