"""Reads Ray's cluster YAML, of today and of articles of 2019, as a config."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from overtone.cluster.config import ClusterConfig, Limits, Provider, Workers
from overtone.cluster.config_checks import MAX_NODES, Document
from overtone.cluster.provider_modules import about
from overtone.cluster.ray_shape import check_shape

RAY_KEYS = (
    "cluster_name", "available_node_types", "head_node_type", "head_node", "worker_nodes", "auth",
    "max_workers", "min_workers", "idle_timeout_minutes", "head_start_ray_commands",
)  # fmt: skip
"""Keys of Ray's cluster YAML; one of them tells that a file is Ray's."""

RAY_TOP_KEYS = (
    "cluster_name", "max_workers", "upscaling_speed", "idle_timeout_minutes", "provider", "auth", "docker",
    "head_node_type", "file_mounts", "cluster_synced_files", "file_mounts_sync_continuously", "rsync_exclude",
    "rsync_filter", "metadata", "initialization_commands", "setup_commands", "head_setup_commands",
    "worker_setup_commands", "head_start_ray_commands", "worker_start_ray_commands", "no_restart",
    "available_node_types",
)  # fmt: skip
"""The keys of Ray's cluster YAML today."""

OLD_KEYS = (
    "head_node", "worker_nodes", "min_workers", "initial_workers", "autoscaling_mode",
    "target_utilization_fraction",
)  # fmt: skip
"""Keys of files for Ray 0.8 to 1.2; local hosts still have `min_workers`."""

RAY_PROVIDERS = ("aws", "gcp", "local")
"""Providers that get a cluster YAML of Ray's."""


def config_of_ray(document: Document, top: Mapping[str, Any]) -> ClusterConfig:
    """Return the config that Ray's cluster YAML stands for; `raw` is the whole YAML.

    Raises:
        ConfigError: A key that the launcher needs is missing or wrong.
    """
    document.check_keys("", top, (*RAY_TOP_KEYS, *OLD_KEYS), "Ray's cluster YAML")
    top = check_shape(document, top)
    kind, provider = _provider(document, top)
    nodes = _node_types(document, top)
    idle = top.get("idle_timeout_minutes", 5)
    rule = "must be a number of minutes above 0, such as 5"
    idle_s = 60 * document.positive("idle_timeout_minutes", idle, rule)
    head, workers = (
        _local_workers(document, top, provider, idle_s)
        if kind == "local"
        else _cloud_workers(document, top, kind, nodes, idle_s)
    )
    return ClusterConfig(
        name=_name(document, top),
        provider=provider,
        head=head,
        workers=workers,
        setup=tuple(top.get("setup_commands", ())),
        limits=Limits(),
        raw=dict(top),
        is_ray=True,
        source=document.source,
        lines=document.lines,
    )


def _name(document: Document, top: Mapping[str, Any]) -> str:
    """Return Ray's name of the cluster as a name of Overtone's, which providers accept as part of theirs."""
    given = document.text("cluster_name", top.get("cluster_name", "default"), "digits")
    name = re.sub(r"[^a-z0-9]+", "-", given.lower())[:32].strip("-")
    if not name or not name[0].isalpha():
        raise document.error("cluster_name", "must begin with a letter, such as digits", given)
    return name


def _provider(document: Document, top: Mapping[str, Any]) -> tuple[str, Provider]:
    example = "provider: {type: aws, region: eu-west-1}"
    if "provider" not in top:
        raise document.error("", f"provider is missing: say where the nodes are, such as {example}")
    given = document.mapping("provider", top["provider"], f"must have a type, such as {example}")
    kind = given.get("type")
    if kind not in RAY_PROVIDERS:
        rule = f"the launcher takes Ray's YAML for {', '.join(RAY_PROVIDERS)}; for others use `ray up`"
        raise document.error("provider.type", rule, kind)
    auth = top.get("auth", {})
    settings: dict[str, Any] = {}
    for name, setting in (("ssh_user", "user"), ("ssh_private_key", "ssh_key")):
        if auth.get(name) is not None:
            settings[setting] = document.text(f"auth.{name}", auth[name], "ubuntu")
    if kind == "local":
        settings["hosts"] = _hosts(document, given)
        return kind, Provider(kind, settings)
    for name, setting in (("region", "region"), ("availability_zone", "zone"), ("project_id", "project")):
        if given.get(name) is not None:
            settings[setting] = document.text(f"provider.{name}", given[name], "eu-west-1")
    if "region" not in settings:
        raise document.error("provider", "region is missing: write it, such as region: eu-west-1")
    return kind, Provider(kind, settings)


def _hosts(document: Document, given: Mapping[str, Any]) -> tuple[str, ...]:
    if "coordinator_address" in given:
        rule = "the launcher has no coordinator server: write head_ip and worker_ips instead"
        raise document.error("provider.coordinator_address", rule, given["coordinator_address"])
    if "head_ip" not in given:
        raise document.error("provider", "head_ip is missing: write it, such as head_ip: 10.0.0.1")
    workers = given.get("worker_ips") or []
    if not isinstance(workers, list):
        raise document.error("provider.worker_ips", "must be a list, such as [10.0.0.2, 10.0.0.3]", workers)
    hosts = [document.text("provider.head_ip", given["head_ip"], "10.0.0.1")]
    for i, address in enumerate(workers):
        host = document.text(f"provider.worker_ips.{i}", address, "10.0.0.2")
        if host in hosts:
            raise document.error(f"provider.worker_ips.{i}", "is there twice: name each host once", host)
        hosts.append(host)
    return tuple(hosts)


def _local_workers(
    document: Document, top: Mapping[str, Any], provider: Provider, idle_s: float
) -> tuple[str, Workers]:
    hosts = provider.settings["hosts"]
    most = min(_count(document, top, "max_workers", len(hosts) - 1), len(hosts) - 1)
    least = min(_count(document, top, "min_workers", most), len(hosts) - 1)
    _check_order(document, "max_workers", least, most)
    return hosts[0], Workers(None, least, most, False, idle_s)


def _node_types(document: Document, top: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node types; none for files that are older than these."""
    if top.get("available_node_types"):
        rule = "must be node types with their node_config"
        types = document.mapping("available_node_types", top["available_node_types"], rule)
        head = top.get("head_node_type")
        if head not in types:
            raise document.error("head_node_type", f"must be one of {', '.join(types)}", head)
        return types
    return {}


def _cloud_workers(
    document: Document, top: Mapping[str, Any], kind: str, types: Mapping[str, Any], idle_s: float
) -> tuple[str | None, Workers]:
    if not types:
        return _old_workers(document, top, kind, idle_s)
    limit = _count(document, top, "max_workers", 2)
    head, workers, least, most, spot = None, [], 0, 0, False
    for name in types:
        key = f"available_node_types.{name}"
        node = document.mapping(key, types[name], "must have node_config and resources")
        machine = _machine(document, f"{key}.node_config", node.get("node_config"), kind)
        low = _count(document, node, "min_workers", 0, f"{key}.min_workers")
        high = _count(
            document, node, "max_workers", 0 if name == top["head_node_type"] else limit, f"{key}.max_workers"
        )
        _check_order(document, f"{key}.max_workers", low, high)
        if name == top["head_node_type"]:
            head = machine[0]
        if high:
            workers.append(machine[0])
            spot, least, most = spot or machine[1], least + low, most + high
    kinds = list(dict.fromkeys(one for one in workers if one))
    return head, Workers(", ".join(kinds) or None, least, min(most, limit), spot, idle_s)


def _old_workers(
    document: Document, top: Mapping[str, Any], kind: str, idle_s: float
) -> tuple[str | None, Workers]:
    most = _count(document, top, "max_workers", 2)
    least = _count(document, top, "min_workers", 0)
    _check_order(document, "max_workers", least, most)
    head = _machine(document, "head_node", top.get("head_node"), kind)[0]
    machine, spot = _machine(document, "worker_nodes", top.get("worker_nodes"), kind)
    return head, Workers(machine, least, most, spot, idle_s)


def _machine(document: Document, key: str, node: Any, kind: str) -> tuple[str | None, bool]:
    """Return the machine type of a node's config, and whether it is a spot machine."""
    cloud = about(kind).ray
    own = cloud.machine_type if cloud else ""
    given = document.mapping(key, node or {}, f"must be keys, such as {own}")
    machine = given.get(own)
    if machine is not None:
        machine = document.text(f"{key}.{own}", machine, "m6i.large")
    if kind == "aws":
        options = given.get("InstanceMarketOptions")
        return machine, isinstance(options, Mapping) and options.get("MarketType") == "spot"
    scheduling = given.get("scheduling") or []
    parts = scheduling if isinstance(scheduling, list) else [scheduling]
    return machine, any(
        isinstance(part, Mapping) and (part.get("preemptible") or part.get("provisioningModel") == "SPOT")
        for part in parts
    )


def check_caching(document: Document, ray: Mapping[str, Any], key: str) -> None:
    """Refuse machines that are stopped instead of ended.

    Raises:
        ConfigError: `cache_stopped_nodes` is set.
    """
    provider = ray.get("provider")
    if isinstance(provider, Mapping) and provider.get("cache_stopped_nodes"):
        rule = "stopped machines' disks go on to cost: write false, or remove it"
        raise document.error(f"{key}.cache_stopped_nodes", rule, provider["cache_stopped_nodes"])


def _count(document: Document, top: Mapping[str, Any], name: str, default: int, key: str = "") -> int:
    if top.get(name) is None:
        return default
    return document.whole_number(key or name, top[name], "2", 0, MAX_NODES)


def _check_order(document: Document, key: str, least: int, most: int) -> None:
    if least > most:
        raise document.error(key, f"must be at least min_workers={least}", most)
