"""A program for each host: it reports the host's facts, and ends a cluster there.

`python -m overtone.cluster.local.host_facts NAME` prints JSON.
"""

from __future__ import annotations

import argparse
import getpass
import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import psutil

from overtone.cluster.local import host_record, temporary_files
from overtone.cluster.marked_processes import MARK, end_marked, marked
from overtone.version import __version__


@dataclass(frozen=True)
class HostFacts:
    """Facts of a host.

    Attributes:
        hostname: Its own name.
        user: The user who is logged in.
        ip: The address of this login, as the host sees it; "" if it was not over SSH.
        port: The port of its sshd.
        python: The version of Python.
        ray: The version of Ray; "" if it is not installed.
        overtone: The version of Overtone.
        claim: The cluster that it belongs to: "name" and "id"; None if none.
        is_new: Whether that has claimed it just now, and may be starting.
        others: Names of other clusters whose processes run here, or that have just claimed the host.
        processes: The cluster's processes: pairs of a name and the begin, in seconds since 1970.
        files: The cluster's files.
        has_key: Whether the cluster's key may log in.
        setup: The hash of the setup commands that succeeded last; None for none.
        resources: What Ray would offer here: "CPU", "GPU". Only if it was asked for.
    """

    hostname: str = ""
    user: str = ""
    ip: str = ""
    port: int = 22
    python: str = ""
    ray: str = ""
    overtone: str = ""
    claim: dict[str, Any] | None = None
    is_new: bool = False
    others: list[str] = field(default_factory=list)
    processes: list[tuple[str, float]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    has_key: bool = False
    setup: str | None = None
    resources: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> HostFacts:
        """Return the facts in JSON."""
        found = json.loads(text)
        found["processes"] = [(str(name), float(since)) for name, since in found["processes"]]
        return cls(**{name: value for name, value in found.items() if name in cls.__dataclass_fields__})

    def runs(self, name: str) -> bool:
        """Return whether a process of this name is among the cluster's, such as "raylet"."""
        return any(one == name for one, _ in self.processes)

    @property
    def is_clean(self) -> bool:
        """Whether nothing of the cluster is here."""
        return not self.processes and not self.files and not self.has_key


def facts(name: str, address: str, with_resources: bool) -> HostFacts:
    """Return the facts of this host about the cluster `name`."""
    connection = os.environ.get("SSH_CONNECTION", "").split()
    claim = host_record.claim()
    is_ours = claim is None or claim.get("name") == name
    return HostFacts(
        hostname=platform.node(),
        user=getpass.getuser(),
        ip=connection[2] if len(connection) == 4 else "",
        port=int(connection[3]) if len(connection) == 4 else 22,
        python=platform.python_version(),
        ray=_ray_version(),
        overtone=__version__,
        claim=claim,
        is_new=bool(host_record.new_claim()),
        others=_other_clusters(name),
        processes=_processes(name),
        files=[*(host_record.files() if is_ours else []), *map(str, temporary_files.folders(name))],
        has_key=host_record.has_key(name),
        setup=host_record.setup_hash(address) if is_ours else None,
        resources=_resources() if with_resources else {},
    )


def end(name: str, lives: Sequence[str] = ()) -> None:
    """End the cluster on this host: its processes, then its temporary files, its key and its files.

    Args:
        name: The cluster's name.
        lives: If given: do nothing if another life of the cluster has just claimed the host.
    """
    if lives and host_record.is_anothers(lives):
        return
    end_marked(name)
    temporary_files.remove(name)
    host_record.remove_key(name)
    claim = host_record.claim()
    if claim is None or claim.get("name") == name:
        host_record.remove_files()


def _processes(name: str) -> list[tuple[str, float]]:
    found = []
    for process in marked(name):
        with suppress(psutil.Error):  # it has ended
            found.append((process.name(), process.create_time()))
    return sorted(found)


def _other_clusters(name: str) -> list[str]:
    found = {str(host_record.new_claim().get("name") or name)} - {name}
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # it has ended, or is another user's
            other = process.environ().get(MARK)
            if other and other != name:
                found.add(other)
    return sorted(found)


def _ray_version() -> str:
    try:
        return importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _resources() -> dict[str, int]:
    """Return what `ray start` would find here: the autoscaler must say it before a node is up."""
    from ray._private.accelerators import get_accelerator_manager_for_resource
    from ray._private.utils import get_num_cpus

    gpus = get_accelerator_manager_for_resource("GPU").get_current_node_num_accelerators()
    return {"CPU": int(get_num_cpus()), **({"GPU": int(gpus)} if gpus else {})}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the facts of this host as JSON; with `--end`, end the cluster here before that.

    With `--claim`, make the host the cluster's before that, unless another cluster has just claimed it.
    """
    parser = argparse.ArgumentParser(prog="python -m overtone.cluster.local.host_facts")
    parser.add_argument("name")
    parser.add_argument("address")
    parser.add_argument("--resources", action="store_true")
    parser.add_argument("--end", action="store_true")
    parser.add_argument("--lives", metavar="ID", nargs="+", default=[], help="with --end: of these alone")
    parser.add_argument(
        "--claim", action="store_true", help="first make the host the cluster's, by a claim on standard input"
    )
    parser.add_argument("--wait-for", metavar="PROCESS", help="wait until this process of the cluster runs")
    parser.add_argument("--within", metavar="SECONDS", type=float, default=30.0)
    given = parser.parse_args(arguments)
    if given.end:
        end(given.name, given.lives)
    if given.claim:
        host_record.take(**json.load(sys.stdin))
    deadline = time.monotonic() + given.within
    found = facts(given.name, given.address, given.resources)
    while given.wait_for and not found.runs(given.wait_for) and time.monotonic() < deadline:
        time.sleep(0.2)
        found = facts(given.name, given.address, given.resources)
    json.dump(asdict(found), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
