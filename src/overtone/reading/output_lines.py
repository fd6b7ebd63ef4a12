"""Reads a trial's output while it is written: kept output, or the files of `log_to_file`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from overtone.errors import StorageError
from overtone.reading.trial_output import LONGEST_HEADING, NEWEST, OLDER, STREAMS, heading_in, is_kept_output
from overtone.regular_files import open_regular

Printed = tuple[str, bytes]
"""A line: "stdout" or "stderr", and its bytes without the line end."""

_CHUNK_BYTES = 1 << 18
_LONGEST_LINE = 1 << 20


class GrowingFile:
    """The lines that are added to a file.

    Args:
        path: The file; it may not exist yet.
        back: Begin so many lines before the end; None for the beginning.
    """

    def __init__(self, path: str | os.PathLike[str], back: int | None = None) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._rest = b""
        self._back = back

    @property
    def inode(self) -> int:
        """The number of the open file; 0 if none is open."""
        return 0 if self._file is None else os.fstat(self._file.fileno()).st_ino

    @property
    def is_replaced(self) -> bool:
        """Whether another file has taken its path."""
        try:
            return os.lstat(self._path).st_ino != self.inode
        except FileNotFoundError:
            return False

    def open(self) -> bool:
        """Open the file if it is there; return whether it is open."""
        if self._file is None:
            try:
                self._file = open_regular(self._path, follow_links=False, buffer_bytes=0)
            except (FileNotFoundError, StorageError):
                return False
            if self._back is not None:
                self._file.seek(_line_back(self._file, self._back))
        return True

    def start(self, size: int) -> bytes:
        """Return the first bytes of the file."""
        return b"" if self._file is None else os.pread(self._file.fileno(), size, 0)

    def lines(self, is_last: bool = False) -> Iterator[bytes]:
        """Yield the lines that were added; with `is_last` also one that is not ended."""
        if not self.open():
            return
        assert self._file is not None
        if os.fstat(self._file.fileno()).st_size < self._file.tell():  # it was cut, to be written anew
            self._file.seek(0)
            self._rest = b""
        while data := self._file.read(_CHUNK_BYTES):
            *whole, self._rest = (self._rest + data).split(b"\n")
            yield from whole
            if len(self._rest) > _LONGEST_LINE:
                yield self._rest
                self._rest = b""
        if is_last and self._rest:
            yield self._rest
            self._rest = b""

    def close(self) -> None:
        """Close the file; `open` opens the file that is at its path then."""
        if self._file is not None:
            self._file.close()
            self._file, self._rest, self._back = None, b"", None


class KeptLines:
    """The lines of kept output, across its parts.

    Args:
        folder: The trial's folder.
        trial_id: The trial.
    """

    def __init__(self, folder: Path, trial_id: str) -> None:
        self._folder, self._trial_id = folder, trial_id
        self._newest = GrowingFile(folder / NEWEST)
        self._inode = 0  # of the part that is read
        self._stream = STREAMS[0]

    @property
    def is_foreign(self) -> bool:
        """Whether the trial has a file of its own at the path."""
        return self._newest.open() and not self._is_own(self._newest)

    def lines(self, is_last: bool = False) -> Iterator[Printed]:
        """Yield the lines that were added; with `is_last` also one that is not ended."""
        while True:
            if not self._newest.open() or not self._is_own(self._newest):
                self._newest.close()
                return
            if self._newest.inode != self._inode:
                yield from self._older()
                self._inode = self._newest.inode
            is_replaced = self._newest.is_replaced  # first: nothing is added to a replaced part
            yield from self._told(self._newest.lines(is_last or is_replaced))
            if not is_replaced:
                return
            self._newest.close()

    def _older(self) -> Iterator[Printed]:
        """Yield the lines of the older part, unless it was read while it was the newest."""
        older = GrowingFile(self._folder / OLDER)
        try:
            if not older.open() or not self._is_own(older):
                return
            if older.inode not in (self._inode, self._newest.inode):
                yield from self._told(older.lines(is_last=True))
        finally:
            older.close()

    def _is_own(self, file: GrowingFile) -> bool:
        return is_kept_output(file.start(LONGEST_HEADING), self._trial_id)

    def _told(self, lines: Iterator[bytes]) -> Iterator[Printed]:
        for line in lines:
            if line.startswith(b"==> ") and (stream := heading_in(line, self._trial_id)):
                self._stream = stream
            else:
                yield self._stream, line

    def close(self) -> None:
        """Close the file that is read."""
        self._newest.close()


class FileLines:
    """The lines of the files that `log_to_file` names: one for both streams, or one each.

    Args:
        folder: The trial's folder.
        names: The names of the files for stdout and stderr.
        streams: Read those of these streams only.
        back: Begin so many lines before the end of each; None for the beginning.
    """

    def __init__(
        self,
        folder: Path,
        names: tuple[str, str],
        streams: tuple[str, ...] = STREAMS,
        back: int | None = None,
    ) -> None:
        chosen = {
            name: stream for stream, name in zip(STREAMS, names, strict=True) if stream in streams
        }  # one entry if both streams share a file
        self._files = [(stream, GrowingFile(folder / name, back)) for name, stream in chosen.items()]

    def lines(self, is_last: bool = False) -> Iterator[Printed]:
        """Yield the lines that were added; with `is_last` also one that is not ended."""
        for stream, file in self._files:
            for line in file.lines(is_last):
                yield stream, line

    def close(self) -> None:
        """Close the files."""
        for _, file in self._files:
            file.close()


def _line_back(file: BinaryIO, count: int) -> int:
    """Return the offset of the line that is `count` lines before the end of a file."""
    at = os.fstat(file.fileno()).st_size
    wanted = count
    if at and os.pread(file.fileno(), 1, at - 1) == b"\n":
        wanted += 1
    if not wanted:
        return at
    while at:
        start = max(0, at - _CHUNK_BYTES)
        data = os.pread(file.fileno(), at - start, start)
        found = data.count(b"\n")
        if found >= wanted:
            place = len(data)
            for _ in range(wanted):
                place = data.rindex(b"\n", 0, place)
            return start + place + 1
        wanted -= found
        at = start
    return 0
