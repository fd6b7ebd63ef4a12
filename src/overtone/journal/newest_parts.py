"""What the newest driver of an experiment was given, as its journal has it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from overtone.journal.codec import unsealed
from overtone.journal.text import loads

_DRIVER = b'"e":"driver"'
_WITHIN = 40
"""So near to the beginning of its line does a record say what it is."""


def newest_parts(journal: Path, header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts that the newest driver recorded: the header's, where no resume changed any.

    Args:
        header: The journal's first record.
    """
    parts: Mapping[str, Any] = header["parts"]
    with suppress(OSError, ValueError), journal.open("rb") as file, _mapped(file) as text:
        parts = next(_noted(text), parts)
    return parts


def _mapped(file: BinaryIO) -> mmap.mmap:
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _noted(text: mmap.mmap) -> Iterator[Mapping[str, Any]]:
    """The parts in the notes of drivers, newest first; a damaged note is passed over."""
    start = len(text)
    while (place := text.rfind(_DRIVER, 0, start)) >= 0:
        start, end = text.rfind(b"\n", 0, place) + 1, text.find(b"\n", place)
        body = unsealed(text[start:end]) if place - start < _WITHIN and end > 0 else None
        parts = loads(body.decode() + "}").get("parts") if body is not None else None
        if isinstance(parts, dict):
            yield parts
