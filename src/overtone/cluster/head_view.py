"""The head's view of its cluster: runs and logins that keep it busy, and nodes that cost money."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from overtone.cluster.logins import logins
from overtone.cluster.run_folder import RunFolder, runs
from overtone.control.holder import holder
from overtone.store.folder_mark import JOURNAL, LOCK

HEAD = "head"
"""The type under which the price of the head is given."""

_HEAD_RESOURCE = "node:__internal_head__"

ANSWER_S = 10
"""Seconds that Ray gets to answer."""


def busy(address: str | None) -> tuple[str, ...]:
    """Return what keeps the cluster, such as "run 20261123-181500-c0ffee"; empty if the cluster is idle.

    Args:
        address: Address of Ray's head; None if Ray does not run.
    """
    found = [f"run {run.id}" for run in running()]
    found += [f"experiment {path}" for path in experiments()]
    found += [f"login: {login}" for login in logins()]
    if address is not None:
        with suppress(Exception):  # Ray has ended, and its drivers with it
            found += drivers_elsewhere(address)
    return tuple(found)


def running() -> list[RunFolder]:
    """Return the submitted runs whose driver runs now."""
    return [run for run in runs() if run.state() == "running"]


def experiments() -> list[str]:
    """Return the folders of the experiments that this user's processes run here, also paused ones."""
    mine = os.getuid()
    locks = set()
    for process in psutil.process_iter():
        try:
            if process.uids().real == mine:
                locks |= {file.path for file in process.open_files() if os.path.basename(file.path) == LOCK}
        except (psutil.Error, OSError):
            continue  # it has just ended
    journals = [Path(lock).with_name(JOURNAL) for lock in sorted(locks)]
    return [str(journal.parent) for journal in journals if _is_held(journal)]


def _is_held(journal: Path) -> bool:
    with suppress(Exception):  # an unreadable folder is not an experiment that runs
        return holder(journal, watches=False) is not None
    return False


def drivers_elsewhere(address: str) -> list[str]:
    """Return Ray's drivers on other nodes than the head.

    Raises:
        Exception: Ray does not answer.
    """
    from ray._raylet import GcsClient

    head = address.rpartition(":")[0]
    jobs: Mapping[Any, Any] = GcsClient(address).get_all_job_info(timeout=ANSWER_S)
    own = {head, "127.0.0.1", *_addresses()}
    return [
        f"Ray's job {job.job_id.hex()} on {job.driver_ip_address}"
        for job in jobs.values()
        if not job.is_dead and job.driver_ip_address and job.driver_ip_address not in own
    ]


def _addresses() -> set[str]:
    return {one.address for found in psutil.net_if_addrs().values() for one in found}


def nodes(address: str) -> dict[str, int]:
    """Return the number of nodes of each type that run or start; the type of the head is HEAD.

    Raises:
        Exception: Ray does not answer.
    """
    from ray.autoscaler.v2.sdk import get_cluster_status

    status = get_cluster_status(address, timeout=ANSWER_S)
    found: Counter[str] = Counter()
    for node in [*status.active_nodes, *status.idle_nodes]:
        found[HEAD if _HEAD_RESOURCE in node.total_resources() else node.ray_node_type_name] += 1
    for node in status.pending_nodes:
        found[node.ray_node_type_name] += 1
    for launch in status.pending_launches:
        found[launch.ray_node_type_name] += launch.count
    return dict(found)


def cost_an_hour(nodes: Mapping[str, int], prices: Mapping[str, float]) -> float:
    """Return the cost of an hour in US dollars; a node of an unknown type costs the highest price."""
    highest = max(prices.values(), default=0.0)
    return sum(count * prices.get(kind, highest) for kind, count in nodes.items())
