"""The guard of a worker: ends its node when Ray's daemon there has ended, so that nothing lives on unseen.

Ray ends a worker's daemon a minute after the head is lost, and at once when the cluster ends.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import psutil

from overtone.cluster import supervised
from overtone.cluster.end_machines import machine_of, shuts_down
from overtone.cluster.ending import shut_down
from overtone.cluster.marked_processes import end_marked, has_node, marked, network_of
from overtone.cluster.run_folder import cluster_folder
from overtone.cluster.watchdog import say
from overtone.file_lock import open_locked

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

MODULE = "overtone.cluster.node_guard"
GONE_S = 30.0
"""Seconds without Ray's daemon after which the node ends: the launcher may be starting it again."""

LOOK_S = 5.0


def start_command(config: ClusterConfig, gone_s: float = GONE_S) -> str:
    """Return the shell command that starts the guard on a worker, after Ray; it may be repeated.

    Args:
        config: The config of the cluster.
        gone_s: Seconds without Ray's daemon after which the node ends.
    """
    machine = machine_of(config)
    what = " --machine" if machine is not None and shuts_down(machine) else ""
    start = f"-m {MODULE} --start {shlex.quote(config.name)} --gone {gone_s:g}{what}"
    return supervised.command(config.name, start)


def guard(name: str, gone_s: float, ends_machine: bool) -> int:
    """Wait until Ray's daemon has been gone for `gone_s` seconds, and end the node."""
    # Homes may be shared by the nodes.
    node = f"{platform.node()}-{network_of('self').strip('net:[]')}"
    lock = open_locked(cluster_folder() / f"guard-{name}-{node}.lock", os.O_RDWR | os.O_CREAT)
    if lock is None:
        return 0  # another one guards
    seen_at = time.monotonic()
    known: set[psutil.Process] = set()  # once the daemon has ended, its children are not its any more
    while time.monotonic() - seen_at <= gone_s:
        time.sleep(min(LOOK_S, gone_s / 4))
        if has_node(name):
            seen_at = time.monotonic()
            known = {one for one in [*known, *marked(name)] if one.is_running()}
    say(f"Ray's daemon has been gone for {gone_s:g} s: the node ends")
    left = end_marked(name, known)
    if left:
        say(f"still there: {', '.join(left)}")
    if ends_machine:
        shut_down(say)
        return 1  # not reached once the machine shuts down, else tried again
    return 1 if left else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `python -m overtone.cluster.node_guard`; return the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--start", metavar="NAME", help="start the guard in the background")
    what.add_argument("--guard", metavar="NAME", help="be the guard")
    what.add_argument("--end", metavar="NAME", help="end all processes of the cluster on this machine")
    parser.add_argument("--gone", metavar="SECONDS", type=float, default=GONE_S)
    parser.add_argument("--machine", action="store_true", help="the machine ends, too")
    given = parser.parse_args(arguments)
    if given.end is not None:
        left = end_marked(given.end)
        sys.stdout.write("".join(f"{one}\n" for one in left))
        return 1 if left else 0
    if given.guard is not None:
        return guard(given.guard, given.gone, given.machine)
    folder = cluster_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = ["--gone", f"{given.gone:g}", *(["--machine"] if given.machine else [])]
    supervised.start(MODULE, "--guard", given.start, *options, log=folder / "guard.log")
    return 0


if __name__ == "__main__":
    sys.exit(main())
