"""The notes of the newest driver in a journal, found from its end without parsing the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from overtone.core.limits import Limits
from overtone.core.sizes import LONGEST_LINE
from overtone.journal.lines import header
from overtone.journal.seals import unsealed
from overtone.journal.text import loads
from overtone.regular_files import open_regular

_DRIVER = b'"e":"driver"'

_WITHIN = 40
"""The kind of a record is within this many bytes of its start."""

_BLOCK_BYTES = 1 << 20


def newest_parts(journal: Path, first: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts that the newest driver noted, or the header's, with the limits by the newest Resumed.

    The journal is searched from its end and not parsed: 0.04 s for 100 MB.

    Args:
        first: The journal's first record.
    """
    parts: Mapping[str, Any] = first["parts"]
    is_resumed = False
    with suppress(OSError, ValueError), open_regular(journal) as file:
        for note in _newest(file, _DRIVER):
            is_resumed = True
            if isinstance(noted := note.get("parts"), dict):
                parts = {**parts, **noted}
                break
        for note in _newest(file, b'"e":"resumed"') if is_resumed else ():
            if isinstance(limits := note.get("limits"), dict):
                return {**parts, "limits": asdict(Limits.of(limits))}
    return parts


def newest_driver(journal: Path) -> dict[str, Any]:
    """Return the facts of the header, with those that the newest driver noted.

    Raises:
        StorageError: The journal cannot be read, or its header is damaged.
    """
    facts = header(journal)
    with open_regular(journal) as file:
        return {**facts, **next(filter(None, _newest(file, _DRIVER)), {})}


def _newest(file: BinaryIO, mark: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records of the kind in `mark`, as data, from the newest to the oldest; {} for no record."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        block = file.read(end - start + len(mark) - 1)  # also matches across the end of the block
        place = len(block)
        while (place := block.rfind(mark, 0, place)) >= 0:
            yield _note_at(file, start + place)
        end = start


def _note_at(file: BinaryIO, place: int) -> dict[str, Any]:
    """Return the record around a position near its start; empty if there is no whole record."""
    begin = max(0, place - _WITHIN)
    file.seek(begin)
    newline = file.read(place - begin).rfind(b"\n")
    if newline < 0:
        return {}
    file.seek(begin + newline + 1)
    body = unsealed(file.readline(LONGEST_LINE).rstrip(b"\n"))
    found = loads(body.decode() + "}") if body is not None else {}
    return found if isinstance(found, dict) else {}
