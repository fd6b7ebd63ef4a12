"""Iterates over the lines of a journal and verifies each line. All readers of journals use this module.

Each byte is read once and checksummed at most twice, for any contents. Time is linear in the size
of the file, and memory is linear in its longest line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, Literal

from overtone.core.sizes import LONGEST_LINE
from overtone.errors import OvertoneError, StorageError
from overtone.journal.header import checked_header, put_together
from overtone.journal.seals import SEAL_BYTES, unsealed, unsealed_batch
from overtone.regular_files import open_regular

_CHUNK_BYTES = 1 << 18
_BEGINNING = b'{"n":'
_HOLE = bytes(16)
"""Unwritten pages read as zero bytes after a power cut. JSON text has no zero bytes."""

_REMEMBERED_BYTES = 64


class Lines:
    """Iterates over the verified lines of a journal, without checksums and closing braces.

    A torn end is dropped and counted. A crash leaves one of two kinds:

    - A last line without a newline. A batch is one write that ends with a newline, so a killed
      process or a full disk leaves the beginning of a batch.
    - A line with a run of zero bytes and no valid record after them. A power cut may lose pages
      that were not synced, although later pages reached the disk.

    Everything else is damage: an error that names the line and the byte. This includes the last
    line if it has its newline, because a crash cannot write a newline after half a record, and
    because its trial may have acted on that record. A line longer than `LONGEST_LINE` is damage
    too, and is not read to its end.

    Args:
        path: The journal.
        offset: Start in bytes: 0, or the `offset` of an earlier reader.
        n: The number of the last line before `offset`; 0 to take it from the line there.
        tail: "drop" a torn end, or "error".

    Attributes:
        offset: The end of the last line that was read, in bytes.
        n: Number of that line, counted from 1; the header is line 1.
        dropped_bytes: Size of the torn end in bytes, after all lines were read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        offset: int = 0,
        n: int = 0,
        tail: Literal["drop", "error"] = "drop",
    ) -> None:
        self.path = Path(path)
        self.offset = offset
        self.n = n
        self.dropped_bytes = 0
        self._tail = tail

    def __iter__(self) -> Iterator[bytes]:
        for bodies in self.batches():
            self.n -= len(bodies)
            self.offset -= batch_bytes(bodies)
            bodies.reverse()
            while bodies:  # a long line is freed once its reader is done with it
                body = bodies.pop()
                self.n += 1
                self.offset += len(body) + SEAL_BYTES
                yield body
                del body

    def batches(self) -> Iterator[list[bytes]]:
        """Yield the lines, many at a time. `offset` and `n` belong to the last line of the batch.

        Raises:
            StorageError: A line is damaged or missing.
        """
        with open_for_reading(self.path) as file:
            file.seek(self.offset)
            pieces: list[bytes] = []  # of a line whose end was not read yet, joined once at its end
            length = 0
            while chunk := file.read(_CHUNK_BYTES):
                lines = chunk.split(b"\n")
                if len(lines) == 1 or pieces:
                    length += len(lines[0])
                    if length >= LONGEST_LINE:
                        raise self._damaged(f"it is longer than {LONGEST_LINE >> 20} MB, which no record is")
                    pieces.append(lines[0])
                    if len(lines) == 1:
                        continue
                    lines[0] = b"".join(pieces)
                pieces = [last] if (last := lines.pop()) else []
                length = len(last)
                bodies = unsealed_batch(lines)
                damaged = lines[len(bodies)] if len(bodies) < len(lines) else None
                del lines  # else a long line is in memory twice while its record is decoded
                n_good = self._numbered(bodies)
                misplaced = bodies[n_good] if n_good < len(bodies) else None
                del bodies[n_good:]
                self.n += n_good
                self.offset += batch_bytes(bodies)
                if bodies:
                    yield bodies
                if misplaced is not None:
                    raise self._missing(misplaced)
                if damaged is not None:
                    self._drop_hole(file, damaged)
                    return
                del bodies
            if pieces:
                rest = b"".join(pieces)
                pieces.clear()
                self._drop_torn(rest)

    def _numbered(self, bodies: Sequence[bytes]) -> int:
        """Return how many of the first records are numbered consecutively; check the header."""
        if self.offset and not self.n and bodies:
            self.n = _number(bodies[0]) - 1
        first = self.n + 1
        if not self.n:
            if bodies and bodies[0].startswith(b"%b1," % _BEGINNING):
                checked_header(self.path, bodies[0])
        elif _are_numbered(bodies, first):
            return len(bodies)
        for i, body in enumerate(bodies):
            if not body.startswith(b"%b%d," % (_BEGINNING, first + i)):
                return i
        return len(bodies)

    def _missing(self, body: bytes) -> StorageError:
        return StorageError(
            f"{self.path}, line {self.n + 1}: record {self.n + 1} is missing; the line begins with "
            f"{body[:40]!r}. "
            f"{self._remedy('before this line')}"
        )

    def _drop_torn(self, rest: bytes) -> None:
        """Drop a last line without a newline."""
        if rest.endswith(b"}", 0, -1) and unsealed(rest[:-1]) is not None:
            raise self._damaged("its newline is another character")
        if self._tail == "error":
            raise self._damaged("its end is missing")
        self.dropped_bytes = len(rest)

    def _drop_hole(self, file: BinaryIO, line: bytes) -> None:
        """Drop `line` and all that follows if pages of it were never written."""
        size = os.fstat(file.fileno()).st_size
        file.seek(self.offset)
        if self._tail == "error" or _HOLE not in line or _holds_a_record(file):
            raise self._damaged("its checksum does not match")
        self.dropped_bytes = size - self.offset

    def _damaged(self, what: str) -> StorageError:
        return StorageError(
            f"{self.path}, line {self.n + 1} (byte {self.offset}): damaged, {what}. "
            f"{self._remedy('at that byte')}"
        )

    def _remedy(self, where: str) -> str:
        follow = ""
        if self.offset == 0:
            return (
                "Restore the file from a copy: without its first line, nothing else in it can be used. "
                "To begin anew, choose another name"
            )
        with suppress(OSError):  # the file may be gone by now
            follow = f", {self.path.stat().st_size - self.offset} bytes"
        return (
            f"Restore the file from a copy; or cut it {where} (truncate -s {self.offset} "
            f"{quote(os.fspath(self.path))}), which gives up this record and all that follow{follow}"
        )


def batch_bytes(bodies: Sequence[bytes]) -> int:
    """Return how many bytes the lines of these bodies take in the file."""
    return sum(map(len, bodies)) + SEAL_BYTES * len(bodies)


def _are_numbered(bodies: Sequence[bytes], first: int) -> bool:
    """Return whether the records are numbered from `first` on, if all numbers have as many digits."""
    end = first + len(bodies)
    size = len(b"%b%d," % (_BEGINNING, first))
    numbers = b"%b%%d," % _BEGINNING * len(bodies) % tuple(range(first, end))
    return len(numbers) == size * len(bodies) and b"".join([body[:size] for body in bodies]) == numbers


def _number(body: bytes) -> int:
    """Return the number of the record in an unsealed line, or 0 if it has no number."""
    number = body[len(_BEGINNING) : body.find(b",")]
    return int(number) if number.isdigit() and len(number) < 20 else 0


def _holds_a_record(file: BinaryIO) -> bool:
    """Return whether the rest of `file` has a valid record: a line, or the end of a line after a hole."""
    while line := file.readline(LONGEST_LINE):
        begin = line.rfind(b"\0") + 1
        is_candidate = line.startswith(_BEGINNING, begin) and line.endswith(b"\n")
        if is_candidate and unsealed(line[begin:-1]) is not None:
            return True
    return False


def open_for_reading(path: Path) -> BinaryIO:
    """Open the journal at `path`.

    Raises:
        StorageError: The journal cannot be read; its `__cause__` says more.
    """
    try:
        return open_regular(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error


def has_records(path: str | os.PathLike[str]) -> bool:
    """Return whether a journal has records, valid or damaged. A torn header is not a record.

    Raises:
        StorageError: The file exists and cannot be read.
    """
    try:
        for _ in Lines(path):
            return True
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return False
        if isinstance(error.__cause__, OSError):
            raise
        return True
    return False


class Unfinished:
    """The unfinished last line of a growing journal. Each of its bytes is read once until it ends.

    Args:
        path: The journal.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._looked = 0
        self._last = b""  # the bytes before `_looked`: if they differ, the line was replaced

    def has_end(self, offset: int, size: int) -> bool:
        """Return whether the line at `offset` can be read now, in a file of `size` bytes."""
        with open_for_reading(self._path) as file:
            known = self._looked - len(self._last)
            file.seek(max(known, offset))
            if not offset <= known < self._looked <= size or file.read(len(self._last)) != self._last:
                self._looked = file.seek(offset)
                self._last = b""
            while self._looked < size and (chunk := file.read(_CHUNK_BYTES)):
                self._looked += len(chunk)
                self._last = (self._last + chunk[-_REMEMBERED_BYTES:])[-_REMEMBERED_BYTES:]
                if b"\n" in chunk:
                    self._looked, self._last = 0, b""
                    return True
        return self._looked - offset >= LONGEST_LINE  # the reader reports it


def check_lengths(path: Path, data: bytes, longest: int = LONGEST_LINE) -> None:
    """Refuse lines that no reader accepts. Results and configs are checked earlier, at their source.

    Args:
        path: The journal that `data` is meant for.
        data: Whole lines.
        longest: The most bytes that a line may have.

    Raises:
        OvertoneError: A line is too long. It is not a StorageError: another try cannot succeed.
    """
    begin = 0
    while begin < len(data):
        end = data.index(b"\n", begin) + 1
        if end - begin > longest:
            raise OvertoneError(
                f"{path}: a record may have up to {longest:,} bytes, and the record that "
                f"begins with {data[begin : begin + 60]!r} has {end - begin:,}. Keep large data out of "
                f"configs: pass it with tune.with_parameters"
            )
        begin = end


def header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the first record of the journal at `path`.

    Raises:
        StorageError: The journal is missing, empty or damaged.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            line = file.readline(LONGEST_LINE)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error
    body = unsealed(line[:-1]) if line.endswith(b"\n") else None
    if body is None:
        for _ in Lines(path):  # raises if the header is damaged, and not torn by a crash
            pass
        raise StorageError(f"{path} holds no complete header: nothing was recorded; start anew")
    return put_together(checked_header(path, body), path.parent)
