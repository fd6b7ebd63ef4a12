"""End the cluster from its head: running experiments save, then the nodes end, and the head last."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from overtone.cluster.end_machines import shuts_down
from overtone.cluster.head_view import ANSWER_S, running
from overtone.cluster.marked_processes import end_marked, head_address, marked
from overtone.regular_files import read_regular, replace_file

LEAVE_S = 15.0
"""Seconds that Ray gets to end the workers, before the head ends."""

CLOUD_S = 180.0
"""Seconds that the cloud's API gets to end the machines."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Ended:
    """The reason and the time of a cluster's end by itself.

    Attributes:
        began: Identifies the life of the cluster.
        reason: Such as "idle for 15m".
        at: Seconds since 1970.
        age_s: Seconds since the cluster began.
        cost: Cost in US dollars.
        is_done: Whether the head has ended everything that it can end.
    """

    began: float
    reason: str
    at: float
    age_s: float
    cost: float
    is_done: bool = False

    def write(self, path: Path) -> None:
        """Write it atomically.

        Raises:
            OSError: The file cannot be written.
        """
        replace_file(path, json.dumps(asdict(self)).encode())


def read_ended(path: Path) -> Ended | None:
    """Return why the cluster of this file ended; None if it did not end by itself."""
    try:
        found = json.loads(read_regular(path))
        return Ended(
            float(found["began"]), str(found["reason"]), float(found["at"]), float(found["age_s"]),
            float(found["cost"]), bool(found["is_done"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def end_cluster(name: str, machine: Mapping[str, Any] | None, save_s: float, say: Say) -> bool:
    """End all of the cluster that can be ended from its head; return whether that is done.

    It can be repeated, for example if this process was killed in between. Where machines end, it is
    never done: this machine ends with the others.

    Args:
        name: The name of the cluster.
        machine: How the machines end, from `end_machines.machine_of`; None if they stay, and only the
            cluster's processes end.
        save_s: Seconds that running experiments get to save.
        say: Receives a line for the log.
    """
    stop_runs(save_s, say)
    _stop_autoscaler(name)
    _end_workers(name, say)
    if machine is not None and machine["function"]:
        _end_machines(name, machine, say)
    left = end_marked(name)
    if left:
        say(f"still there: {', '.join(left)}")
    if machine is not None and shuts_down(machine):
        shut_down(say)
    return not left and machine is None


def stop_runs(within_s: float, say: Say) -> None:
    """Interrupt the submitted runs as Ctrl-C does, so that they save, and wait until they have ended."""
    for run in running():
        say(f"run {run.id}: interrupted, to save")
        run.interrupt()
    give_up_at = time.monotonic() + within_s
    while (left := running()) and time.monotonic() < give_up_at:
        time.sleep(0.2)
    for run in left:
        say(f"run {run.id}: has not ended after {within_s:.0f} s")


def _stop_autoscaler(name: str) -> None:
    """End Ray's autoscaler: it would start other nodes for those that end."""
    for process in marked(name):
        with suppress(psutil.Error):
            if any(one.endswith("monitor.py") and "autoscaler" in one for one in process.cmdline()):
                process.kill()
                process.wait(5)


def _end_workers(name: str, say: Say) -> None:
    """Have Ray end the daemons of all other nodes; the guards of the nodes do the rest."""
    address = head_address(name)
    if address is None:
        return
    try:
        others = _other_nodes(address)
        if not others:
            return
        from ray._raylet import GcsClient

        say(f"ends {len(others)} worker{'s' * (len(others) != 1)}")
        GcsClient(address).drain_nodes(others, timeout=ANSWER_S)
        give_up_at = time.monotonic() + LEAVE_S
        while _other_nodes(address) and time.monotonic() < give_up_at:
            time.sleep(0.5)
    except Exception as error:  # the guard of each node ends it when its daemon misses the head
        say(f"Ray cannot end the workers: {type(error).__name__}: {error}")


def _other_nodes(address: str) -> list[bytes]:
    from ray._raylet import GcsClient

    found = GcsClient(address).get_all_node_info(timeout=ANSWER_S)
    return [id.binary() for id, node in found.items() if node.state == 0 and not node.is_head_node]


def _end_machines(name: str, machine: Mapping[str, Any], say: Say) -> None:
    """End the machines by the cloud's API, in a process of its own, which may hang or lack rights."""
    command = [sys.executable, "-m", "overtone.cluster.end_machines", json.dumps({**machine, "name": name})]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CLOUD_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        say(f"the cloud cannot end the machines: {error}")
        return
    if done.returncode:
        say(f"the cloud cannot end the machines: {done.stderr.strip()[-500:]}")


def shut_down(say: Say) -> None:
    """Shut this machine down: its provider ends it then."""
    command = ["shutdown", "-h", "now"]
    if shutil.which("sudo"):
        command = ["sudo", "-n", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        say(f"the machine cannot shut down: {error}")
        return
    if done.returncode:
        say(f"the machine cannot shut down: {done.stderr.strip()[-500:]}")
