"""The temporary files of a cluster on a host: of Ray, of Overtone and of trials, in one folder, `/tmp/ot-ID`.

Clusters and users that share a host share no such folder, so the end of one removes nothing of another. The
name is short: a socket's path has at most 107 bytes.
"""

from __future__ import annotations

import getpass
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from overtone.cluster.local import host_record
from overtone.cluster.run_folder import TEMPORARY, cluster_folder, temporary_variables
from overtone.regular_files import read_regular, replace_file
from overtone.worker.checkpoints import held_folders

NAME_FILE = "cluster"
"""The file in the folder with the name of the cluster."""

_PREFIX, _ID_LETTERS = "ot-", 8
_LONGEST = 26
"""Bytes of a path above the folder with which Ray's sockets have room."""

_SHARED_MEMORY = Path("/dev/shm")
_SHARED = ("objects", "nodes", "checkpoints", "gangs", "memory")
"""Kinds of folders that a user's processes hold, each in a common folder of its kind."""


def open_folder(name: str) -> dict[str, str]:
    """Make the folder of the cluster that this host belongs to, and record it for commands on the host.

    Returns:
        The variables that make programs use it; none if there is no room for Ray's sockets in its path, or
        the folder is somebody else's.
    """
    claim = host_record.claim() or {}
    above = _above()[0]
    if claim.get("name") != name or len(str(above)) > _LONGEST:
        return {}
    folder = above / f"{_PREFIX}{str(claim.get('id'))[:_ID_LETTERS]}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_own(folder) or _name_in(folder) not in ("", name):
            return {}
        replace_file(folder / NAME_FILE, name.encode())
        replace_file(cluster_folder() / TEMPORARY, str(folder).encode())
    except OSError:  # such as a full disk
        with suppress(OSError):  # it is somebody else's, or in use
            folder.rmdir()
        return {}
    return temporary_variables()


def folders(name: str) -> list[Path]:
    """Return the folders of a cluster on this host that are this user's, also of its earlier lives."""
    return [folder for folder in _candidates() if _is_own(folder) and _name_in(folder) == name]


def remove(name: str) -> None:
    """Remove the temporary files of a cluster on this host, whose processes have ended."""
    for folder in folders(name):
        shutil.rmtree(folder, ignore_errors=True)
    # Ray's autoscaler has its connections to workers there; the folder above is all clusters'.
    connections = Path("/tmp", f"ray_ssh_{_hash(getpass.getuser())}", _hash(name))
    if _is_own(connections):
        shutil.rmtree(connections, ignore_errors=True)
        with suppress(OSError):  # another cluster's
            connections.parent.rmdir()
    _remove_unheld()


def _remove_unheld() -> None:
    """Remove what killed processes of this user have left in shared memory, or have from scripts run by hand.

    What a process holds stays, as do the folders above, which the user's runs outside of the cluster share.
    """
    for root in (_SHARED_MEMORY, Path("/tmp")):
        for what in _SHARED:
            yard = root / f"overtone-{what}-{os.getuid()}"
            if _is_own(yard):
                with suppress(OSError), held_folders.gate(yard):
                    held_folders.delete_unheld(yard)


def _candidates() -> Iterator[Path]:
    for above in _above():
        with suppress(OSError):
            yield from sorted(above.glob(f"{_PREFIX}{'?' * _ID_LETTERS}"))


def _above() -> list[Path]:
    """Return where the folder may be: first where Ray would have its own, last where this one was made."""
    named = [os.environ.get("RAY_TMPDIR"), os.environ.get("TMPDIR"), "/tmp"]
    with suppress(OSError, ValueError):
        named.append(str(Path(read_regular(cluster_folder() / TEMPORARY).decode()).parent))
    return list(dict.fromkeys(Path(one) for one in named if one))


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _name_in(folder: Path) -> str:
    try:
        return read_regular(folder / NAME_FILE).decode()
    except (OSError, ValueError):
        return ""


def _hash(text: str) -> str:
    """Return a hash as Ray's autoscaler has it in paths."""
    return sha256(text.encode()).hexdigest()[:10]
