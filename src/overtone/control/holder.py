"""Whether somebody is running an experiment now: by the lock beside its journal, or the lease at its URL."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from overtone.file_lock import HAS_LOCKS, try_lock
from overtone.store.cache import origin
from overtone.store.processes import is_alive


class Holder(NamedTuple):
    """The process that runs an experiment; `since` is seconds since 1970. None: it has just begun."""

    pid: int | None
    hostname: str | None
    since: float | None

    def __str__(self) -> str:
        if self.pid is None:
            return "a process that has just begun"
        return f"process {self.pid} on {self.hostname}"


def holder(journal: Path, watches: bool = True) -> Holder | None:
    """Return the process that runs the experiment of this journal; None if there is none.

    Args:
        watches: Whether to wait some seconds for the renewal of a lease that seems to have expired.

    Raises:
        StorageError: The journal is the local part of a URL that cannot be read.
    """
    found = _of_lock(journal)
    if found is not None:
        return found
    url = origin(journal.parent)
    return None if url is None else _of_lease(url, watches)


def _of_lock(journal: Path) -> Holder | None:
    """Return the holder of the lock next to the journal.

    The lock is tried, briefly, only if its last holder is alive or on another machine.
    """
    path = journal.with_name(f"{journal.name}.lock")
    if not HAS_LOCKS:
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe of that name must not hold us up
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        found = _read(os.pread(fd, 4096, 0))
        if found.pid is not None and found.hostname == this_host() and not is_alive(found.pid):
            return None
        with suppress(OSError):
            if try_lock(fd, is_shared=True):
                return None
        return found
    finally:
        os.close(fd)  # which lets go of the lock as well


def _of_lease(url: str, watches: bool) -> Holder | None:
    """Return the holder of the newest lease at a URL, if the lease was renewed recently."""
    from overtone.store.files import RemoteFiles
    from overtone.store.lease import holder as holder_at

    facts = holder_at(RemoteFiles(url), watches=watches)
    return None if facts is None else _read(json.dumps(facts).encode())


def _read(text: bytes) -> Holder:
    try:
        facts: dict[str, Any] = json.loads(text)
        return Holder(int(facts["pid"]), str(facts["hostname"]), float(facts["since"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return Holder(None, None, None)


def this_host() -> str:
    import platform

    return platform.node()
