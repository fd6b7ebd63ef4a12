"""Scalars of TensorBoard's event files, read while a program writes them.

A file is a sequence of records: the length (8 bytes), its checksum (4), a protocol buffer and its
checksum (4). Checksums are not compared: a record that is incomplete is read again later.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from overtone.program.protocol_buffers import fields

PATTERN = "**/*tfevents*"
_LENGTH = struct.Struct("<Q")
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_LONGEST = 1 << 28
_DT_FLOAT, _DT_DOUBLE = 1, 2


class EventFolder:
    """The event files below a folder.

    Metrics of one step are one result. A step is complete when a later step has begun, or when a look
    finds nothing new.

    Args:
        folder: The folder, which may appear later.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[Path, int] = {}
        self._steps: dict[int, dict[str, float]] = {}

    def look(self, is_last: bool = False) -> list[dict[str, float]]:
        """Return the metrics of each step that is complete, with the step as "step"."""
        before = set(self._steps)
        changed = set()
        for path in sorted(self._folder.glob(PATTERN)):
            if path.name.endswith(".overtone"):
                continue
            for step, tag, value in self._new(path):
                self._steps.setdefault(step, {})[tag] = value
                changed.add(step)
        newest = max(self._steps, default=0)
        done = [one for one in sorted(self._steps) if is_last or one < newest or one in before - changed]
        return [{"step": step, **self._steps.pop(step)} for step in done]

    def _new(self, path: Path) -> Iterator[tuple[int, str, float]]:
        place = self._places.get(path, 0)
        with open(path, "rb") as file:
            file.seek(place)
            data = file.read()
        at = 0
        while at + 12 <= len(data):
            (length,) = _LENGTH.unpack_from(data, at)
            if length > _LONGEST:  # the file is damaged
                at = len(data)
                break
            end = at + 12 + length + 4
            if end > len(data):
                break
            yield from _scalars(data[at + 12 : end - 4])
            at = end
        self._places[path] = place + at


def _scalars(event: bytes) -> Iterator[tuple[int, str, float]]:
    """Yield (step, tag, value) of each scalar in an Event."""
    step, summaries = 0, []
    for field, value in fields(event):
        if field == 2 and isinstance(value, int):
            step = value - (1 << 64 if value >> 63 else 0)
        elif field == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for field, value in fields(summary):
            if field == 1 and isinstance(value, bytes):
                tag, number = _scalar(value)
                if number is not None:
                    yield step, tag, number


def _scalar(value: bytes) -> tuple[str, float | None]:
    """Return the tag and the number of a Summary.Value; None if it is not a scalar."""
    tag, number = "", None
    for field, part in fields(value):
        if not isinstance(part, bytes):
            continue
        if field == 1:
            tag = part.decode("utf-8", "replace")
        elif field == 2 and len(part) == 4:
            number = _FLOAT.unpack(part)[0]
        elif field == 8:
            number = _number_of_tensor(part)
    return tag, number


def _number_of_tensor(tensor: bytes) -> float | None:
    """Return the number in a TensorProto with one float or double; else None."""
    kind, content, floats, doubles, has_shape = 0, b"", b"", b"", False
    for field, part in fields(tensor):
        if field == 1 and isinstance(part, int):
            kind = part
        elif isinstance(part, bytes):
            has_shape = has_shape or (field == 2 and bool(part))
            content = part if field == 4 else content
            floats = part if field == 5 else floats
            doubles = part if field == 6 else doubles
    if has_shape or kind not in (_DT_FLOAT, _DT_DOUBLE):
        return None
    form = _FLOAT if kind == _DT_FLOAT else _DOUBLE
    data = content or (floats if kind == _DT_FLOAT else doubles)
    number: float | None = form.unpack(data)[0] if len(data) == form.size else None
    return number
