"""CPU time and memory of process trees, read from /proc, or by psutil."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import NamedTuple

from overtone.worker import process_tree

SCAN_EVERY_S = 0.2
"""Interval between scans of all processes, on a kernel that does not list children."""

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_HAS_PROC = os.path.exists("/proc/self/stat")


class ProcessUsage(NamedTuple):
    """CPU time and memory of one process.

    Attributes:
        cpu_s: User and system seconds of the process and of the children it has waited for.
        resident: Bytes in memory; shared pages count in full.
    """

    cpu_s: float
    resident: int


def used(pid: int) -> ProcessUsage:
    """Return the usage of the process `pid`; zeros if the process is gone."""
    if not _HAS_PROC:
        return _used_by_psutil(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # the command, in brackets, may itself hold blanks and brackets
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return ProcessUsage(0.0, 0)
    return ProcessUsage(sum(map(int, fields[11:15])) / _TICKS, int(fields[21]) * _PAGE)


def own_memory(pid: int) -> int:
    """Return the bytes in memory of `pid`, shared pages in proportion (PSS); else `resident`."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # the process is gone, belongs to another user by now, or this system has no such file
    return used(pid).resident


class Families:
    """Finds the descendants of processes; finding them costs more than measuring them."""

    def __init__(self) -> None:
        self._lists_children = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
        self._parents: dict[int, list[int]] = {}
        self._scan_at = 0.0

    def of(self, root: int) -> set[int]:
        """Return `root` and all its descendants."""
        if not _HAS_PROC:
            return _family_by_psutil(root)
        if not self._lists_children and time.monotonic() >= self._scan_at:
            self._scan()
        found, new = {root}, [root]
        while new:
            below = set(self._children(new.pop())) - found
            found |= below
            new.extend(below)
        return found

    def _children(self, pid: int) -> Iterable[int]:
        if not self._lists_children:
            return self._parents.get(pid, ())
        found: list[int] = []
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                    found += map(int, file.read().split())
        except OSError:
            pass  # it, or that thread, has ended meanwhile
        return found

    def _scan(self) -> None:
        self._parents.clear()
        for pid, parent in process_tree.parents():
            self._parents.setdefault(parent, []).append(pid)
        self._scan_at = time.monotonic() + SCAN_EVERY_S


def _used_by_psutil(pid: int) -> ProcessUsage:
    import psutil

    try:
        process = psutil.Process(pid)
        times = process.cpu_times()
        children_s = getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
        return ProcessUsage(times.user + times.system + children_s, process.memory_info().rss)
    except psutil.Error:
        return ProcessUsage(0.0, 0)


def _family_by_psutil(root: int) -> set[int]:
    import psutil

    try:
        return {root, *(one.pid for one in psutil.Process(root).children(recursive=True))}
    except psutil.Error:
        return {root}
