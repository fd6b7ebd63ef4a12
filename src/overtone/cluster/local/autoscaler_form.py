"""The config of Ray's autoscaler on the head of a cluster of hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head_python import python_command
from overtone.cluster.local import worker_start
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.local.host_record import FOLDER, KEY
from overtone.cluster.local.node_record import node_type
from overtone.cluster.ray_form import merge
from overtone.cluster.tokens import environment

PORT = 6379
"""The port of the head's Ray."""

_NOTHING = (
    "initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands",
    "head_start_ray_commands", "cluster_synced_files", "rsync_exclude", "rsync_filter",
)  # fmt: skip

START_S = 60
"""Seconds for which the autoscaler waits for SSH on a host."""


def autoscaler_config(config: ClusterConfig, facts: Mapping[str, HostFacts], n_least: int) -> dict[str, Any]:
    """Return the config as a value. The same arguments give the same value.

    Args:
        config: The cluster's config.
        facts: The facts of each host, by its address.
        n_least: How many workers the autoscaler keeps at least.
    """
    head, *workers = config.hosts
    user = facts[head].user
    types: dict[str, Any] = {"head": {"node_config": {}, "resources": {}, "min_workers": 0, "max_workers": 0}}
    for at, address in enumerate(workers):
        least = int(at < min(n_least, config.workers.max))
        resources = facts[address].resources
        types[node_type(address)] = {
            "node_config": {}, "resources": resources, "min_workers": least, "max_workers": 1,
        }  # fmt: skip
    hosts = {
        address: {"ip": one.ip or address, "port": one.port, "user": one.user, "alias": address}
        for address, one in facts.items()
    }
    module = "overtone.cluster.local.node_provider.HostProvider"
    ray: dict[str, Any] = {
        "cluster_name": config.name,
        "max_workers": config.workers.max,
        "upscaling_speed": 100.0,
        "idle_timeout_minutes": config.workers.idle_s / 60,
        "provider": {"type": "external", "module": module, "head": head, "hosts": hosts},
        "auth": {"ssh_user": user, "ssh_private_key": f"{FOLDER}/{KEY}"},
        "head_node_type": "head",
        "available_node_types": types,
        "worker_start_ray_commands": worker_start_commands(config),
        **{key: [] for key in _NOTHING},  # `overtone up` has done all that; Ray wants the keys
        "file_mounts": {},
    }
    return ray if config.is_ray else merge(ray, config.raw)


def worker_start_commands(config: ClusterConfig) -> list[str]:
    """Return the commands that start Ray on a worker; `$RAY_HEAD_IP` is the head's address.

    Ray is not started twice. The worker's own address is that at which it was reached by SSH: a host may have
    several networks.
    """
    from overtone.cluster.node_guard import start_command

    own = '$(set -- $SSH_CONNECTION; echo "$3")'
    ray = f'ray start --address="$RAY_HEAD_IP:{PORT}" --node-ip-address="{own}"'
    start = python_command(f"-m {worker_start.MODULE} {quote(config.name)} {ray}")
    return [with_environment(config, one) for one in (start, start_command(config))]


def head_start_command(config: ClusterConfig, facts: HostFacts, autoscaler: str) -> str:
    """Return the command that starts Ray on the head; the autoscaler's config is the file `autoscaler`."""
    head = config.hosts[0]
    own = f"--node-ip-address={facts.ip}" if facts.ip else ""
    variables = {
        "RAY_enable_autoscaler_v2": "1",
        "RAY_CLOUD_INSTANCE_ID": head,
        "RAY_NODE_TYPE_NAME": "head",
        "AUTOSCALER_NODE_START_WAIT_S": str(START_S),
    }
    ray = f"ray start --head {own} --port={PORT} --dashboard-host=127.0.0.1 --autoscaling-config={autoscaler}"
    start = python_command(f"-m {worker_start.MODULE} {quote(config.name)} {ray}")
    return with_environment(config, f"{_exports(variables)}; {start}")


def worker_environment(head_ip: str, address: str) -> dict[str, str]:
    """Return what the autoscaler would set for the start commands of a worker."""
    return {
        "RAY_HEAD_IP": head_ip,
        "RAY_CLOUD_INSTANCE_ID": address,
        "RAY_NODE_TYPE_NAME": node_type(address),
    }


def with_variables(variables: Mapping[str, str], commands: Sequence[str]) -> str:
    """Return one command that sets the variables and runs the commands, as far as they succeed."""
    return f"{_exports(variables)} && " + " && ".join(f"{{ {one}\n}}" for one in commands)


def with_environment(config: ClusterConfig, command: str) -> str:
    """Return a command with the mark of the cluster's processes, and the token's file."""
    usage = {"RAY_USAGE_STATS_ENABLED": '"${RAY_USAGE_STATS_ENABLED:-0}"'}
    variables = {"OVERTONE_CLUSTER": config.name, **environment(), **usage}
    limit = 'ulimit -n "$(ulimit -Hn)" 2>/dev/null'
    return f"{_exports(variables)}; {limit}; {command}"


def _exports(variables: Mapping[str, str]) -> str:
    return "export " + " ".join(f"{name}={value}" for name, value in variables.items())
