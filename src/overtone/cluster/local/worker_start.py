"""Starts Ray on a host unless it runs there: `overtone up` and Ray's autoscaler may both start a worker.

The autoscaler first asks Ray for its nodes, and then the node record for its hosts. If a worker joins in
between, the autoscaler starts Ray there again, and a second daemon would offer the host's CPUs twice.

`python -m overtone.cluster.local.worker_start NAME COMMAND...` runs the command, such as `ray start ...`.
Ray and its children have their temporary files in the folder of the cluster, which ends with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from overtone.cluster.local.host_record import folder
from overtone.cluster.local.temporary_files import open_folder
from overtone.cluster.marked_processes import has_node
from overtone.file_lock import locked

MODULE = "overtone.cluster.local.worker_start"


def start(name: str, command: Sequence[str]) -> int:
    """Run the command that starts Ray, unless a daemon of the cluster runs on this host; return its status.

    One process of a host at a time does: a second one waits, and finds the daemon that the first has started.
    """
    host = os.environ.get("RAY_CLOUD_INSTANCE_ID", "")  # hosts may share a home
    fd = os.open(folder() / f"start-{host}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with locked(fd):
        if has_node(name):
            sys.stdout.write("Ray runs here already\n")
            return 0
        return subprocess.run(command, env={**os.environ, **open_folder(name)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(start(sys.argv[1], sys.argv[2:]))
