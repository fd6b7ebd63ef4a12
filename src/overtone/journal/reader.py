"""Reads a journal, also while it is written; takes no lock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from overtone.core.messages import Record, Reported
from overtone.errors import StorageError
from overtone.journal.codec import PLAIN_REPORT, Codec, unsealed
from overtone.journal.header import checked_header
from overtone.journal.text import LazyMetrics, loads

_CHUNK_BYTES = 1 << 20
_BEGINNING = b'{"n":'


class Lines:
    """Iterates over the verified lines of a journal, without checksums and closing braces.

    What does not verify at the end was torn off by a crash and is dropped; what does not
    verify further up is an error.

    Args:
        path: The journal.
        offset: Where to begin, in bytes: 0, or the `offset` of an earlier reader.
        n: The number of the last line before `offset`; 0 to take it from the line there.
        tail: "drop" a torn end, or "error".

    Attributes:
        offset: The end of the last line that was read, in bytes.
        n: Its number, counted from 1; the header is line 1.
        dropped_bytes: How much was torn at the end, once all was read.
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
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise StorageError(f"{self.path} cannot be read: {error.strerror}") from error
        with file:
            file.seek(self.offset)
            rest = b""
            while chunk := file.read(_CHUNK_BYTES):
                lines = (rest + chunk).split(b"\n")
                rest = lines.pop()
                for index, line in enumerate(lines):
                    body = unsealed(line)
                    if body is None:
                        self._drop(b"\n".join([*lines[index:], rest]) + file.read())
                        return
                    if self.offset and not self.n:
                        self.n = int(body[len(_BEGINNING) : body.index(b",")]) - 1
                    self.n += 1
                    if not body.startswith(b"%b%d," % (_BEGINNING, self.n)):
                        raise StorageError(
                            f"{self.path}, line {self.n}: record {self.n} is missing; the line begins with "
                            f"{body[:40]!r}. Restore the file from a copy, or cut it before this line."
                        )
                    if self.n == 1:
                        checked_header(self.path, body)
                    self.offset += len(line) + 1
                    yield body
            if rest:
                self._drop(rest)

    def _drop(self, rest: bytes) -> None:
        """Give up on `rest`, whose first line is damaged, if nothing whole follows."""
        if self._tail == "error" or _holds_a_record(rest[1:]):
            raise StorageError(
                f"{self.path}, line {self.n + 1} (byte {self.offset}): damaged, its checksum does not match. "
                f"Restore the file from a copy; or cut it at that byte (truncate -s {self.offset}), which "
                f"gives up this record and all that follow."
            )
        self.dropped_bytes = len(rest)


def _holds_a_record(text: bytes) -> bool:
    """Whether a whole record begins somewhere, also where the end of the line before it was damaged."""
    for line in text.split(b"\n"):
        begin = line.find(_BEGINNING)
        while begin >= 0:
            if unsealed(line[begin:]) is not None:
                return True
            begin = line.find(_BEGINNING, begin + 1)
    return False


Plain = tuple[int, float, str, int, int, LazyMetrics]
"""A report that led to nothing, the bulk of every journal: n, time, trial_id, attempt, t, metrics."""


class Reader:
    """Iterates over the records of a journal.

    Attributes:
        lines: Where it is, and how much was torn at the end.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        from_offset: int = 0,
        tail: Literal["drop", "error"] = "drop",
        lazy: bool = False,
        codec: Codec | None = None,
        n: int = 0,
    ) -> None:
        self.lines = Lines(path, from_offset, n, tail)
        self._lazy = lazy
        self._codec = codec or Codec()

    def __iter__(self) -> Iterator[Record]:
        decode, lazy = self._codec.decode, self._lazy
        for body in self.lines:
            record = decode(body, lazy)
            if record is not None:
                yield record

    def entries(self) -> Iterator[Record | Plain]:
        """The records, metrics undecoded; those that are plain reports as their parts alone."""
        match, decode = PLAIN_REPORT.match, self._codec.decode
        names: dict[bytes, str] = {}
        for body in self.lines:
            found = match(body)
            if found is None:
                record = decode(body, True)
                if record is not None:
                    yield record
                continue
            n, time, key, attempt, t = found.groups()
            name = names.get(key)
            if name is None:
                name = names[key] = key.decode()
            yield int(n), float(time), name, int(attempt), int(t), LazyMetrics(body[found.end() :])


def as_record(entry: Record | Plain) -> Record:
    """The record of an entry."""
    if not isinstance(entry, tuple):
        return entry
    n, time, trial_id, attempt, t, metrics = entry
    return Record(n, Reported(time, trial_id, attempt, t, metrics))


def read(
    path: str | os.PathLike[str],
    from_offset: int = 0,
    tail: Literal["drop", "error"] = "drop",
    *,
    lazy: bool = False,
    codec: Codec | None = None,
    n: int = 0,
) -> Reader:
    """The records of a journal, in order, as they are on the disk now.

    Args:
        from_offset: Go on from `reader.lines.offset` of an earlier reader.
        tail: "drop" the torn end that a crash may leave (`reader.lines.dropped_bytes` tells
            how much), or "error".
        lazy: Leave metrics undecoded until somebody looks at them, and `raw` empty.
        codec: Needed where configs hold what is not data.
        n: The `reader.lines.n` of that earlier reader: no record may be missing between.

    Raises:
        StorageError: While iterating: it cannot be read, is of a newer format, or is
            damaged before its end; the line is named.
    """
    return Reader(path, from_offset, tail, lazy, codec, n)


def scan(path: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's kind ("header", "driver", "reported", ...) and its contents as plain data."""
    for body in Lines(path):
        document = loads(body.decode() + "}")
        yield document["e"], document


def follow(
    path: str | os.PathLike[str],
    stop: Callable[[], bool],
    poll_s: float = 0.2,
    *,
    lazy: bool = False,
    codec: Codec | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Record]:
    """The records of a journal that is being written, as they come; ends after `stop()` is true.

    What was written before `stop()` became true is still yielded.
    """
    offset = n = seen = 0
    while True:
        is_last = stop()
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            size = 0
        if size < offset:  # a failed append was taken back: what comes in its place has other ends
            offset = n = 0
        if size > offset:
            reader = Reader(path, offset, "drop", lazy, codec, n)
            for record in reader:
                if record.n > seen:
                    seen = record.n
                    yield record
            offset, n = reader.lines.offset, reader.lines.n
        if is_last:
            return
        sleep(poll_s)
