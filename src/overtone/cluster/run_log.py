"""The log of a run on the head: bytes at offsets that never change, which any number of readers follow.

The script writes to `log` itself, unless it has a terminal: a live table prints megabytes an hour, so that
log is a chain of files, `log`, `log.<offset>`, ..., of which the newest are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PART_BYTES = 8 << 20
KEPT_PARTS = 3

FOLLOWED = b"overtone-log:"
"""Begins the line before the bytes of a log or a journal, which says the offset of the first."""

REPLY = b"overtone-reply:"
"""Begins an answer of the driver, which is one line of JSON."""

_PART = re.compile(r"log(?:\.([0-9]{1,18}))?")
_CHUNK_BYTES = 1 << 16


def parts(folder: Path) -> list[tuple[int, Path]]:
    """Return offset and file of each part, in order."""
    found = []
    for name in os.listdir(folder):
        if match := _PART.fullmatch(name):
            found.append((int(match[1] or 0), folder / name))
    return sorted(found)


def end(folder: Path) -> int:
    """Return the offset of the end of the log."""
    found = parts(folder)
    return found[-1][0] + found[-1][1].stat().st_size if found else 0


class LogWriter:
    """Writes the log of a script with a terminal.

    If the disk is full, output is dropped, and a later line says how much: the script must not wait.

    Args:
        folder: The run's folder.
        part_bytes: Size of a part.
    """

    def __init__(self, folder: Path, part_bytes: int = PART_BYTES) -> None:
        self._folder, self._part_bytes = folder, part_bytes
        self._offset = end(folder)
        self._dropped = 0
        found = parts(folder)
        self._fd = self._open(found[-1][1] if found else folder / "log")
        self._begin = found[-1][0] if found else 0

    def write(self, data: bytes) -> None:
        """Append to the log."""
        if self._dropped:
            data = f"\r\n[{self._dropped} bytes of output were lost: the disk was full]\r\n".encode() + data
        view = memoryview(data)
        try:
            while view:
                if self._offset - self._begin >= self._part_bytes:
                    self._turn()
                n = os.write(self._fd, view[: self._part_bytes])
                view = view[n:]
                self._offset += n
            self._dropped = 0
        except OSError:
            self._dropped += len(view)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _turn(self) -> None:
        """Begin the next part, and delete the oldest."""
        fd = self._open(self._folder / f"log.{self._offset}")
        os.close(self._fd)
        self._fd, self._begin = fd, self._offset
        for _, path in parts(self._folder)[:-KEPT_PARTS]:
            with suppress(OSError):
                path.unlink()

    @staticmethod
    def _open(path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def first_offset(folder: Path, offset: int) -> int:
    """Return the offset from which a reader of `offset` gets the log; -n: the last n bytes.

    It is larger than `offset` if that part of the log is deleted.
    """
    found = parts(folder)
    if offset < 0:
        offset = max(0, end(folder) + offset)
    return max(offset, found[0][0]) if found else 0


def read(folder: Path, offset: int) -> Iterator[bytes]:
    """Yield the bytes of the log from `offset` to the end that it has now."""
    while True:
        found = parts(folder)
        begin, path = next(((at, path) for at, path in reversed(found) if at <= offset), (0, None))
        if path is None:
            return
        following = next((at for at, _ in found if at > begin), None)
        if following is not None and offset >= following:
            continue  # A part was added meanwhile.
        try:
            with path.open("rb") as file:
                file.seek(offset - begin)
                while data := file.read(_CHUNK_BYTES):
                    yield data
                    offset += len(data)
        except FileNotFoundError:  # deleted: this reader is too slow
            return
        if following is None or offset < following:
            return
