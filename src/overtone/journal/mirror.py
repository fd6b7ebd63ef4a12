"""Copies a journal that is being written to a URL, as numbered pieces of whole records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from overtone.errors import StorageError
from overtone.journal.segments import segment_name, segments
from overtone.regular_files import open_regular

if TYPE_CHECKING:
    from overtone.store.files import RemoteFiles
    from overtone.store.lease import Lease

SEGMENT_BYTES = 8 << 20


class JournalMirror:
    """The pieces of the journal at `path`, written under a lease.

    Args:
        path: The journal on this machine.
        written: How many bytes of it are there to stay.
        files: Where the experiment lies.
        lease: Says who may write.

    Attributes:
        number: How many pieces there are.
        is_resumed: Whether there were any before.

    Raises:
        StorageError: What is there is not the beginning of this journal.
    """

    def __init__(self, path: Path, written: Callable[[], int], files: RemoteFiles, lease: Lease) -> None:
        self._written = written
        self._files = files
        self._lease = lease
        self._pending = b""  # begun, perhaps there: only the same bytes may take its name
        # read from here on, wherever it is moved, and also when it was deleted
        self._file = open_regular(path)
        finalize(self, self._file.close)
        chain = segments(files)
        self.number = len(chain)
        self._offset = chain[-1].end if chain else 0
        self.is_resumed = bool(chain)
        if chain and self._read(chain[-1].begin, self._offset) != files.read(chain[-1].name):
            raise StorageError(
                f"{files.url} holds another journal than {path}: resume from there, or choose another name"
            )

    @property
    def mirrored_bytes(self) -> int:
        """How much of the journal is there."""
        return self._offset

    def push(self) -> int:
        """Copy what is new; returns how many bytes that were.

        Raises:
            LeaseLostError: Another driver writes there now.
            StorageError: They could not be copied; a later call goes on where this one ended.
        """
        copied = 0
        while data := self._pending or self._next():
            self._pending = data
            self._lease.check()
            self._files.write(segment_name(self.number + 1, self._lease.number), data)
            self._pending = b""
            self.number += 1
            self._offset += len(data)
            copied += len(data)
        return copied

    def _next(self) -> bytes:
        """The next whole records, as many as fit one piece; at least one, if there is one."""
        size, limit = self._written(), SEGMENT_BYTES
        while self._offset < size:
            data = self._read(self._offset, min(size, self._offset + limit))
            end = data.rfind(b"\n") + 1
            if end or self._offset + limit >= size:
                return data[:end]
            limit *= 2  # one record that is longer than that
        return b""

    def _read(self, begin: int, end: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(end - begin)
