"""Reads a journal, even while it is being written; takes no lock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

from overtone.core.messages import Record, Reported
from overtone.journal.codec import Codec
from overtone.journal.lines import Lines as Lines
from overtone.journal.lines import Unfinished
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.text import LazyMetrics, loads

Plain = tuple[int, float, str, int, int, LazyMetrics]
"""A report without effect, the bulk of every journal: n, time, trial_id, attempt, t, metrics."""


class Reader:
    """Iterates over the records of a journal.

    Attributes:
        lines: The line reader, with its position and the size of a torn end.
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
        """Yield the records with undecoded metrics; plain reports as tuples of their parts."""
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
    """Return the record of an entry."""
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
    """Return the records of a journal, in order, as they are on the disk now.

    Args:
        from_offset: Start at `reader.lines.offset` of an earlier reader, in bytes.
        tail: "drop" the torn end that a crash may leave (its size is `reader.lines.dropped_bytes`),
            or "error".
        lazy: Leave metrics undecoded until they are read, and the `raw` of reports empty.
        codec: Needed if configs contain values that are not data.
        n: The `reader.lines.n` of that earlier reader: no record may be missing between.

    Raises:
        StorageError: While iterating: the journal cannot be read, has a newer format, or is
            damaged before its end; the message names the line.
    """
    return Reader(path, from_offset, tail, lazy, codec, n)


def scan(path: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line's kind ("header", "driver", "reported", ...) and its contents as plain data."""
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
    """Yield the records of a growing journal as they arrive; end after `stop()` returns true.

    Records that were written before `stop()` became true are still yielded.

    Args:
        lazy: See `Codec.decode`.
    """
    decode = (codec or Codec()).decode
    for bodies in follow_lines(path, stop, poll_s, sleep):
        bodies.reverse()
        while bodies:  # a long line is freed once it is decoded
            record = decode(bodies.pop(), lazy)
            if record is not None:
                yield record


def follow_lines(
    path: str | os.PathLike[str],
    stop: Callable[[], bool],
    poll_s: float = 0.2,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[list[bytes]]:
    """Yield lines as `follow` does records, in the batches of `Lines.batches`, each line once."""
    offset = n = seen = 0
    unfinished = Unfinished(path)
    while True:
        is_last = stop()
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            size = 0
        if size < offset:  # a failed append was taken back: the next lines may end elsewhere
            offset = n = 0
        # an unfinished line is read once it ends: reading it at each poll takes quadratic time
        if size > offset and (is_last or unfinished.has_end(offset, size)):
            lines = Lines(path, offset, n)
            for bodies in lines.batches():
                n_seen = max(0, seen - (lines.n - len(bodies)))
                if n_seen < len(bodies):
                    seen = lines.n
                    yield bodies[n_seen:] if n_seen else bodies
            offset, n = lines.offset, lines.n
        if is_last:
            return
        sleep(poll_s)
