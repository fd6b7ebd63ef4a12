"""Which hosts are nodes of the cluster: a file on the head, for the autoscaler and for `overtone up`.

`python -m overtone.cluster.local.node_record HEAD ADDRESS...` records workers that `overtone up` has started.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from overtone.cluster.local.host_record import NODES, folder
from overtone.file_lock import locked
from overtone.regular_files import read_regular, replace_file

Tags = dict[str, str]

KIND, TYPE, STATUS = "ray-node-type", "ray-user-node-type", "ray-node-status"
"""Ray's names of the tags that Overtone writes."""


def nodes() -> dict[str, Tags]:
    """Return the tags of each node, by its address."""
    try:
        found: dict[str, Tags] = json.loads(read_regular(_path()))
    except FileNotFoundError:
        return {}
    return found


def change(edit: Callable[[dict[str, Tags]], object]) -> None:
    """Change the nodes by `edit`, which gets all of them. One process at a time does."""
    path = _path()
    fd = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with locked(fd):
        found = nodes()
        edit(found)
        replace_file(path, json.dumps(found).encode())


def worker_tags(address: str) -> Tags:
    """Return the tags of a worker that is up."""
    return {KIND: "worker", TYPE: node_type(address), STATUS: "up-to-date"}


def node_type(address: str) -> str:
    """Return Ray's type of a host: each host is a type of its own, since hosts differ."""
    return f"host-{address}"


def _path() -> Path:
    return folder() / NODES


def main(head: str, addresses: Sequence[str], within_s: float = 30.0) -> int:
    """Record workers, and wait for the autoscaler to record the head; return 1 if it does not in time."""
    change(lambda found: found.update({address: worker_tags(address) for address in addresses}))
    deadline = time.monotonic() + within_s
    while head not in nodes():
        if time.monotonic() > deadline:
            return 1
        time.sleep(0.2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
