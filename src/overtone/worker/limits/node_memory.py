"""Total and used memory of this machine, counted as Ray's memory monitor does.

The total is the physical memory, or the limit of the control group if that is lower. File caches that
the kernel can reclaim do not count as used.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from overtone.worker.limits.control_groups import ROOT, own_groups, words

_V2 = ("memory.max", "memory.current", ("inactive_file", "active_file"))
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))
"""Per version of control groups: files of the limit and the usage, cache fields of `memory.stat`."""


class NodeMemory(NamedTuple):
    """The memory of a machine, or of a control group, in bytes."""

    used: int
    total: int


def memory_reader(
    groups: Path = ROOT, meminfo: Path = Path("/proc/meminfo")
) -> Callable[[], NodeMemory | None]:
    """Return a function that reads the memory in use now, or None if the kernel does not report it.

    Of the machine and the control groups of this process, the one with the least memory counts. Ray
    itself reads the group mounted as the root, which in a container is the container's group.

    Args:
        groups: Mount point of the control groups.
        meminfo: The kernel's memory statistics of the whole machine.
    """

    def machine() -> NodeMemory | None:
        return _of_machine(meminfo)

    tightest, read = machine(), machine
    folders = dict.fromkeys([groups, groups / "memory", *own_groups("memory", groups)])
    for folder in folders:
        for files in (_V2, _V1):
            found = _of_group(folder, *files)
            if found is not None and (tightest is None or found.total < tightest.total):
                tightest, read = found, _reader_of(folder, *files)
    return read


def _reader_of(
    folder: Path, limit: str, usage: str, caches: tuple[str, ...]
) -> Callable[[], NodeMemory | None]:
    return lambda: _of_group(folder, limit, usage, caches)


def _of_group(folder: Path, limit: str, usage: str, caches: tuple[str, ...]) -> NodeMemory | None:
    """Return the memory of a control group; None if it has no limit."""
    (total,) = words(folder / limit, 1) or ("",)
    (used,) = words(folder / usage, 1) or ("",)
    if not (total.isdecimal() and used.isdecimal() and int(total) > 0):
        return None
    stat = _table(folder / "memory.stat")
    cached = sum(stat.get(name, 0) for name in caches)
    return NodeMemory(min(max(0, int(used) - cached), int(total)), int(total))


def _of_machine(meminfo: Path) -> NodeMemory | None:
    sizes = _table(meminfo)  # in KiB
    total = sizes.get("MemTotal:", 0)
    parts = ("MemFree:", "Cached:", "Buffers:")  # for a kernel without MemAvailable
    free = sizes.get("MemAvailable:") or sum(sizes.get(name, 0) for name in parts)
    return NodeMemory(max(0, total - free) * 1024, total * 1024) if total else None


def _table(file: Path) -> dict[str, int]:
    """Return the numbers by name in a file whose lines begin with a name and a number."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split()[:2] for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}
