"""The records of some trials alone, found in a journal without decoding all the others."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from overtone.core.messages import Noted, Record, Tick
from overtone.core.sizes import LONGEST_LINE
from overtone.errors import StorageError
from overtone.journal.codec import Codec, unsealed
from overtone.journal.reader import Lines
from overtone.journal.text import loads
from overtone.regular_files import open_regular

_CHUNK_BYTES = 1 << 22
_NAMED = re.compile(rb'"trial_id":"([^"\\]*)"|"e":"(?:driver|header)"')
_TIME = re.compile(rb'"time":([-+.e\d]+)')
_IS_DRIVER = re.compile(rb'\{"n":\d+,"e":"(?:driver|header)"')


def selected(
    journal: str | os.PathLike[str], trials: Collection[str] | None, codec: Codec | None = None
) -> Iterator[tuple[Record, float]]:
    """Yield each record about one of `trials`, reduced to them, and its driver's beginning.

    Facts about other trials are left out; an event about another trial becomes a
    Tick. The beginning is the wall time, in seconds since 1970, at which the experiment's
    clock would have been 0 by the clock of the driver that wrote the record.

    Args:
        journal: A journal that was read to its end before: only the needed lines are
            verified again.
        trials: The ids of the trials; None for all trials, and then every line is verified.
        codec: Needed if configs hold values that are not data.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    decode = (codec or Codec()).decode
    began = time = 0.0
    for body, before in _all(journal) if trials is None else _about(journal, trials):
        record = decode(body)
        if _IS_DRIVER.match(body):
            if before is not None:
                time = before
            began = _wall(body) - time
        if record is None:
            continue
        time = record.event.time
        if trials is not None:
            record = _reduced(record, trials)
        yield record, began


def _all(journal: str | os.PathLike[str]) -> Iterator[tuple[bytes, float | None]]:
    return ((body, None) for body in Lines(journal))


def _about(journal: str | os.PathLike[str], trials: Collection[str]) -> Iterator[tuple[bytes, float | None]]:
    """Yield the lines that name one of `trials` or a driver, with the time of the line before a driver's."""
    wanted = {trial.encode() for trial in trials} | {None}  # None: the line of a driver
    latest = 0.0
    for data in _chunks(journal):
        end = 0
        for found in _NAMED.finditer(data):
            if found[1] not in wanted or found.start() < end:
                continue
            begin = data.rfind(b"\n", 0, found.start()) + 1
            if begin < end:
                continue
            line_end = data.find(b"\n", found.end())
            times = None
            if found[1] is None:
                times = _last_time(data, begin)
                latest = times if times is not None else latest
            body = unsealed(data[begin:line_end])
            if body is None:
                return  # torn by a crash: it was dropped, and so is what follows
            end = line_end + 1
            yield body, latest if found[1] is None else None
        latest = _last_time(data, len(data)) or latest


def _chunks(journal: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the file in pieces of whole lines."""
    try:
        with open_regular(journal) as file:
            while chunk := file.read(_CHUNK_BYTES):
                if not chunk.endswith(b"\n"):
                    chunk += file.readline(LONGEST_LINE)
                if not chunk.endswith(b"\n"):
                    chunk = chunk[: chunk.rfind(b"\n") + 1]
                yield chunk
    except OSError as error:
        raise StorageError(f"{os.fspath(journal)} cannot be read: {error.strerror}") from error


def _last_time(data: bytes, end: int) -> float | None:
    """Return the time of the last record before `end`."""
    begin = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    found = _TIME.search(data, begin, end)
    return None if found is None else float(found[1])


def _wall(body: bytes) -> float:
    facts: dict[str, Any] = loads(body.decode() + "}")
    wall = facts.get("wall")
    return float(wall) if isinstance(wall, (int, float)) else 0.0


def _reduced(record: Record, trials: Collection[str]) -> Record:
    """Return the part of the record about `trials`."""
    event: Any = record.event
    if getattr(event, "trial_id", None) not in trials:
        event = Tick(event.time)
    choices = tuple([one for one in record.choices if not isinstance(one, Noted) and one.trial_id in trials])
    return replace(record, event=event, choices=choices)
