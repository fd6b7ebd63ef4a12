"""The parts noted by the newest driver of an experiment, from its journal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from overtone.core.sizes import LONGEST_LINE
from overtone.journal.codec import unsealed
from overtone.journal.text import loads
from overtone.regular_files import open_regular

_DRIVER = b'"e":"driver"'
_WITHIN = 40
"""The kind of a record is within this many bytes of its start."""

_BLOCK_BYTES = 1 << 20


def newest_parts(journal: Path, header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts that the newest driver noted; the header's, if no resume changed any.

    The journal is searched from its end and not parsed: 0.04 s for 100 MB.

    Args:
        header: The journal's first record.
    """
    parts: Mapping[str, Any] = header["parts"]
    with suppress(OSError, ValueError), open_regular(journal) as file:
        for place in _places(file):
            noted = _note_at(file, place).get("parts")
            if isinstance(noted, dict):
                return noted
    return parts


def _places(file: BinaryIO) -> Iterator[int]:
    """Yield the positions of `_DRIVER` in a file, from its end to its beginning."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        block = file.read(end - start + len(_DRIVER) - 1)  # also matches across the end of the block
        place = len(block)
        while (place := block.rfind(_DRIVER, 0, place)) >= 0:
            yield start + place
        end = start


def _note_at(file: BinaryIO, place: int) -> dict[str, Any]:
    """Return a driver's note around a position in the file; empty if there is no whole note."""
    begin = max(0, place - _WITHIN)
    file.seek(begin)
    newline = file.read(place - begin).rfind(b"\n")
    if newline < 0:
        return {}
    file.seek(begin + newline + 1)
    body = unsealed(file.readline(LONGEST_LINE).rstrip(b"\n"))
    found = loads(body.decode() + "}") if body is not None else {}
    return found if isinstance(found, dict) else {}
