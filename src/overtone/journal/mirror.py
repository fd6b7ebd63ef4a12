"""Copies a growing journal to a URL, as numbered pieces of whole records."""

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
        written: Returns the number of its bytes that are final.
        files: The experiment's files at the URL.
        lease: The lease of the writer.

    Attributes:
        number: Number of pieces.
        is_resumed: Whether there were pieces before.

    Raises:
        StorageError: The pieces at the URL are not the beginning of this journal.
    """

    def __init__(self, path: Path, written: Callable[[], int], files: RemoteFiles, lease: Lease) -> None:
        self._written = written
        self._files = files
        self._lease = lease
        self._pending = b""  # a begun piece, perhaps written: only the same bytes may take its name
        # read from this open file on, even if it is moved or deleted
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
        """Size of the mirrored part of the journal, in bytes."""
        return self._offset

    def push(self) -> int:
        """Copy the new records, and return their size in bytes.

        Raises:
            LeaseLostError: Another driver writes there now.
            StorageError: The copy failed; a later call continues where this call ended.
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
        """Return the next whole records that fit one piece; at least one record, if there is one."""
        size, limit = self._written(), SEGMENT_BYTES
        while self._offset < size:
            data = self._read(self._offset, min(size, self._offset + limit))
            end = data.rfind(b"\n") + 1
            if end or self._offset + limit >= size:
                return data[:end]
            limit *= 2  # a single record that is longer than that
        return b""

    def _read(self, begin: int, end: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(end - begin)
