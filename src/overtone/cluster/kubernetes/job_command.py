"""The program of a RayJob: waits on the head for the run's command, and becomes it.

KubeRay starts the program when the cluster is up. The command comes later, from the person's machine, when
the files are uploaded. The end of the command is the end of the RayJob, and KubeRay then deletes the cluster.
"""

from __future__ import annotations

import os
import sys
import time

from overtone.cluster.run_folder import cluster_folder

WAIT_S = 600.0
"""Seconds for the command to come; without it, the job fails and the cluster goes."""

COMMAND_FILE = "job_command.sh"


def main(wait_s: float = WAIT_S) -> int:
    """Wait for the command's file and run it in the place of this process; return a status if none comes."""
    path, deadline = cluster_folder() / COMMAND_FILE, time.monotonic() + wait_s
    while time.monotonic() <= deadline:
        if path.exists():
            os.execv("/bin/bash", ["/bin/bash", str(path)])
        time.sleep(0.5)
    sys.stderr.write(f"no command came within {wait_s:.0f} s: {path} is missing\n")
    return 75


if __name__ == "__main__":
    sys.exit(main())
