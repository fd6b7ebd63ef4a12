"""The processes of a cluster on this machine, found by a mark in their environment.

Each command of the launcher starts its processes with `OVERTONE_CLUSTER=NAME`, which all their
children inherit: Ray's daemons and workers, drivers, trials. Containers on the machine, with
networks of their own, do not count.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

import psutil

MARK = "OVERTONE_CLUSTER"
"""The variable with the name of the cluster."""

PATIENCE_S = 5.0
"""Seconds after a SIGTERM until a SIGKILL."""

ROUNDS = 5
"""Most times that processes are looked for: a process may start others before it ends."""


def marked(name: str) -> list[psutil.Process]:
    """Return this user's processes of a cluster, without this process and those that started it.

    Children of marked processes count as well: some of Ray's processes write their title over their
    environment.
    """
    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found: dict[int, psutil.Process] = {}
    children: dict[int, list[psutil.Process]] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended
            children.setdefault(process.ppid(), []).append(process)
            if process.pid not in spared and _mark_of(process) == name:
                found[process.pid] = process
    rest = list(found)
    while rest:
        for child in children.get(rest.pop(), []):
            if child.pid not in found and child.pid not in spared:
                found[child.pid] = child
                rest.append(child.pid)
    return list(found.values())


def end_marked(name: str, known: Iterable[psutil.Process] = ()) -> list[str]:
    """End this user's processes of a cluster, without this process and those that started it.

    Args:
        name: The name of the cluster.
        known: Further processes of the cluster, found by `marked` while their parents were there.

    Returns:
        The names of processes that are still there, such as "raylet (71)"; empty if none is left.
    """
    known = list(known)
    found = _all_of(name, known)
    for at in range(ROUNDS):
        if not found:
            break
        _end(found, PATIENCE_S if at == 0 else 0.0)
        found = _all_of(name, known)
    return [_shown(process) for process in found if process.is_running()]


def _all_of(name: str, known: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in {*marked(name), *known} if _runs(one)]


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _shown(process: psutil.Process) -> str:
    try:
        return f"{process.name()} ({process.pid})"
    except psutil.Error:
        return str(process.pid)


def _end(processes: list[psutil.Process], patience_s: float) -> None:
    if patience_s:
        for process in processes:
            _tell(process, is_final=False)
        _, processes = psutil.wait_procs(processes, timeout=patience_s)
    for process in processes:
        _tell(process, is_final=True)
    psutil.wait_procs(processes, timeout=PATIENCE_S)


def _tell(process: psutil.Process, is_final: bool) -> None:
    try:
        process.kill() if is_final else process.terminate()
    except psutil.Error:
        pass  # it has ended


def network_of(pid: int | str) -> str:
    """Return the network of a process: containers on one machine have networks of their own."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return ""


def _mark_of(process: psutil.Process) -> str | None:
    try:
        if process.status() == psutil.STATUS_ZOMBIE or network_of(process.pid) != network_of("self"):
            return None
        found: str | None = process.environ().get(MARK)
        return found
    except (psutil.Error, OSError):
        return None  # it has ended, or is another user's


def head_address(name: str) -> str | None:
    """Return the address of the cluster's Ray head on this machine; None if none runs."""
    for process in _named("gcs_server", name):
        with suppress(psutil.Error):  # it has ended
            options = dict(one.partition("=")[::2] for one in process.cmdline())
            if "--gcs_server_port" in options:
                ip = options.get("--node-ip-address", "127.0.0.1")
                return f"{ip}:{options['--gcs_server_port']}"
    return None


def has_node(name: str) -> bool:
    """Return whether Ray's node daemon of the cluster runs on this machine."""
    return any(_named("raylet", name))


def _named(program: str, name: str) -> Iterator[psutil.Process]:
    """Yield this machine's processes of a program that belong to a cluster."""
    for process in psutil.process_iter(["name"]):  # a process that has ended has no name
        if process.info["name"] == program and _mark_of(process) == name:
            yield process


if __name__ == "__main__":
    end_marked(sys.argv[1])
