"""The number of results in a trial's files, counted without decoding them."""

from __future__ import annotations

import struct

_HOLE = bytes(512)
"""Pages that a power cut left unwritten read as zeros."""

_STEP = 0x10  # the key of Event.step: results have one, what begins and ends a session has none
_WALL_TIME = 0x09


def json_lines(data: bytes) -> int:
    """Return the results in a result.json; -1 where it was torn."""
    if not data:
        return 0
    return data.count(b"\n") if data.endswith(b"}\n") and b"\0" not in data else -1


def csv_rows(data: bytes) -> int:
    """Return the results in a progress.csv; -1 where it was torn."""
    if not data:
        return 0
    if not data.endswith(b"\n") or b"\0" in data:
        return -1
    if b'"' not in data:
        return data.count(b"\n") - 1
    pieces = data.split(b'"')  # every other one is inside of quotes
    return sum(piece.count(b"\n") for piece in pieces[::2]) - 1 if len(pieces) % 2 else -1


def event_steps(data: bytes) -> int:
    """Return the results in a TensorBoard event file; -1 where it was torn."""
    if _HOLE in data:
        return -1
    at, steps, size = 0, 0, len(data)
    while at < size:
        if at + 16 > size:
            return -1
        (length,) = struct.unpack_from("<Q", data, at)
        body = at + 12
        at = body + length + 4
        # an event begins with its wall time (9 bytes), and its step follows
        if at > size or length < 9 or data[body] != _WALL_TIME:
            return -1
        steps += length > 9 and data[body + 9] == _STEP
    return steps
