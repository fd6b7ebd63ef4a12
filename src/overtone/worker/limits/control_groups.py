"""The control groups that a process is in, of version 2 and of version 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def own_groups(controller: str, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> Iterator[Path]:
    """Yield the folder of this process's control group, then the folders of its parent groups.

    Args:
        controller: Controller of version 1, such as "memory"; version 2 has one group for all.
        root: Mount point of the control groups.
        own: File in which the kernel lists the groups of this process.
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top = root
        elif controller in controllers.split(","):
            top = root / controller
        else:
            continue
        group = top / path.strip("/")
        yield group
        while group != top:
            group = group.parent
            yield group


def words(file: Path, count: int) -> tuple[str, ...]:
    """Return the first `count` words of a file; () if it is missing or shorter."""
    try:
        found = tuple(file.read_text().split()[:count])
    except OSError:
        return ()
    return found if len(found) == count else ()
