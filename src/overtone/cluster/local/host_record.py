"""The files of a cluster on a host: `~/.overtone/cluster/`, for its user alone."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.file_lock import locked
from overtone.regular_files import read_regular, replace_file

FOLDER = "~/.overtone/cluster"
"""The folder, as shell commands name it. Hosts that share a home share it, too."""

CLAIM = "claim.json"
"""The cluster that a host belongs to: its name, and the id of its life."""

AUTOSCALER = "autoscaler.yaml"
NODES = "nodes.json"
TOKEN, KEY, KNOWN_HOSTS = "token", "key", "known_hosts"
KEPT = ("runs",)
"""Files that stay after the cluster: the logs of runs."""

SETUP_S = 1800.0
"""Maximum time that a cluster takes from its claim of a host to its first processes there."""


def folder() -> Path:
    """Return the folder on this host."""
    return Path(os.environ.get("OVERTONE_CLUSTER_FOLDER") or FOLDER).expanduser()


def claim() -> dict[str, Any] | None:
    """Return the claim of this host; None if it belongs to no cluster."""
    try:
        found = json.loads(read_regular(folder() / CLAIM))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def new_claim() -> dict[str, Any]:
    """Return the claim of this host if it is new: its cluster may have no process here yet. If not, {}."""
    found = claim() or {}
    began = found.get("began")
    return found if isinstance(began, (int, float)) and time.time() - began < SETUP_S else {}


def is_anothers(lives: Sequence[str]) -> bool:
    """Return whether a life of a cluster that is not among `lives` has just claimed this host."""
    return new_claim().get("id") not in (None, *lives)


def take(wanted: Mapping[str, Any], lives: Sequence[str] = ()) -> None:
    """Make this host a cluster's, unless another one has just claimed it; `claim` tells which.

    Args:
        wanted: The claim.
        lives: The ids of earlier lives of the cluster, whose claims do not count.
    """
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    folder().chmod(0o700)
    with locked(os.open(folder(), os.O_RDONLY)):  # two clusters may begin at the same moment
        if not is_anothers([str(wanted["id"]), *lives]):
            replace_file(folder() / CLAIM, json.dumps(dict(wanted)).encode())


def setup_hash(address: str) -> str | None:
    """Return the hash of the setup commands that succeeded last on the host with this address."""
    with suppress(OSError):
        return read_regular(folder() / f"setup-{address}").decode()
    return None


def key_line(name: str) -> str:
    """Return the comment of a cluster's key in `authorized_keys`."""
    return f"overtone-cluster={name}"


def has_key(name: str) -> bool:
    """Return whether the key of a cluster may log in here."""
    try:
        lines = (Path.home() / ".ssh/authorized_keys").read_text(errors="replace").splitlines()
    except OSError:
        return False
    return any(line.split()[-1:] == [key_line(name)] for line in lines)


def remove_key(name: str) -> None:
    """Take the key of a cluster out of `authorized_keys`, atomically; all other lines stay as they are."""
    path = Path.home() / ".ssh/authorized_keys"
    if not has_key(name):
        return
    path = path.resolve()  # the file may be a link, which stays
    mode = path.stat().st_mode & 0o777
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if line.split()[-1:] != [key_line(name).encode()]]
    previous = os.umask(0o077)
    try:
        replace_file(path, b"".join(kept))
    finally:
        os.umask(previous)
    path.chmod(mode)


def files() -> list[str]:
    """Return the names of the cluster's files on this host."""
    try:
        return sorted(set(os.listdir(folder())) - set(KEPT))
    except OSError:
        return []


def remove_files() -> None:
    """Remove the cluster's files on this host, the claim last: until then another command finds it."""
    for name in sorted(files(), key=lambda name: name == CLAIM):
        path = folder() / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(FileNotFoundError):
                path.unlink()
    with suppress(OSError):  # not empty
        folder().rmdir()
