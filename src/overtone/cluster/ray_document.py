"""Ray's cluster YAML with all that the launcher adds: the watchdog on the head, the guard on each worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.cluster import node_guard, watchdog
from overtone.cluster.config import ClusterConfig
from overtone.cluster.node_versions import node_versions
from overtone.cluster.prices import price_of
from overtone.cluster.provider_modules import about
from overtone.cluster.ray_form import HEAD, WORKER, ray_yaml


def cluster_yaml(
    config: ClusterConfig,
    *,
    ray_version: str,
    token_file: str,
    began: float = 0.0,
    own_prices: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return the cluster YAML that Ray's launcher gets. Pure.

    Args:
        config: The cluster's config, for aws, gcp or local.
        ray_version: Ray's version on this machine.
        token_file: The file of the cluster's token on this machine.
        began: When the life of the cluster began, in seconds since 1970.
        own_prices: Prices by machine type that come before all others.
    """
    prices = node_prices(config, own_prices)
    return ray_yaml(
        config,
        ray_version=ray_version,
        token_file=token_file,
        head_commands=[watchdog.start_command(config, prices=prices, began=began)],
        worker_commands=[node_guard.start_command(config)],
    )


def planned_yaml(config: ClusterConfig) -> dict[str, Any]:
    """Return the cluster YAML as it is before anything is started."""
    token = f"~/.overtone/clusters/{config.name}/token"
    return cluster_yaml(config, ray_version=node_versions()["ray"], token_file=token)


def node_prices(config: ClusterConfig, own_prices: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the US dollars an hour of Ray's node types, as far as they are known; the head is "head".

    A spot machine counts with its price on demand, so that a limit is kept in any case.
    """
    machines: dict[str, str | None] = {HEAD: config.head, WORKER: config.workers.type}
    cloud = about(config.provider.type).ray
    for name, node in (config.raw.get("available_node_types") or {}).items():
        machine = (node.get("node_config") or {}).get(cloud.machine_type if cloud else "")
        if config.is_ray or machine is not None:
            machines[name] = machine
    prices = {name: price_of(config, machine, False, own_prices) for name, machine in machines.items()}
    return {name: price.dollars for name, price in prices.items() if price is not None}
