"""The sole right to write an experiment's journal for a moment, on this machine and at its URL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.errors import StorageError
from overtone.journal.lock import WriterLock
from overtone.standard_streams import say
from overtone.store.cache import local_folder, origin
from overtone.store.folder_mark import JOURNAL, LOCK

if TYPE_CHECKING:
    from overtone.journal.mirror import JournalMirror

_READERS_S = 10.0
"""Seconds to wait for a lock under a lease: a reader may be copying the journal to this machine."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A journal that only this process may write now.

    Attributes:
        lock: The lock of the folder, held.
    """

    lock: WriterLock
    _mirror: JournalMirror | None = None

    def publish(self, before: int) -> None:
        """Copy what was appended to the experiment's URL, if it has one.

        Args:
            before: The size of the journal without it, in bytes: what cannot be copied is cut off again.

        Raises:
            StorageError: It cannot be copied.
        """
        if self._mirror is None:
            return
        try:
            self._mirror.push()
        except StorageError:
            os.truncate(self.lock.path.with_name(JOURNAL), before)
            raise


@contextmanager
def claimed(folder: Path) -> Iterator[Claim]:
    """Hold the lock of an experiment's folder, and the lease of its URL, if it has one.

    Raises:
        LockHeldError: A driver or another request has the lock.
        LeaseHeldError: A driver or another request has the lease.
        StorageError: The URL cannot be read or written.
        OSError: The lock file cannot be opened.
    """
    url = origin(folder)
    if url is None:
        lock = WriterLock(folder / LOCK, is_brief=True)
        try:
            yield Claim(lock)
        finally:
            lock.release()
        return
    from overtone.journal.fetching import fetch
    from overtone.journal.mirror import JournalMirror
    from overtone.store.files import RemoteFiles
    from overtone.store.lease import Lease

    files = RemoteFiles(url)
    lease = Lease.acquire(files, say=say)
    try:
        lease.keep()
        lock = WriterLock(folder / LOCK, _READERS_S, is_brief=True)
        try:
            if local_folder(url) == folder:
                fetch(url, lock)
            journal = folder / JOURNAL
            yield Claim(lock, JournalMirror(journal, lambda: journal.stat().st_size, files, lease))
        finally:
            lock.release()
    finally:
        lease.release()
