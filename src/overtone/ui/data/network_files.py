"""Whether a folder lies on another machine, where asking for changes takes long."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

_KINDS = ("nfs", "cifs", "smb", "fuse", "9p", "lustre", "gpfs", "ceph", "beegfs", "afs")


def is_on_network(folder: Path) -> bool:
    """Return whether a folder is on a network file system, where this system tells."""
    try:
        mounts = psutil.disk_partitions(all=True)
    except OSError:
        return False
    place, kind = "", ""
    path = os.path.realpath(folder)
    for mount in mounts:
        point = mount.mountpoint
        if len(point) >= len(place) and (path == point or path.startswith(point.rstrip("/") + "/")):
            place, kind = point, mount.fstype
    return kind.startswith(_KINDS)
