"""Frames: the division of a stream of bytes into messages and orders.

A frame is `MARK`, the length of its body (4 bytes, little-endian) and its body. The mark
distinguishes a frame from foreign bytes in the stream, whose "length" a reader would wait for.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Generic, TypeVar

from overtone.core.sizes import LONGEST_LINE
from overtone.errors import MessageError

T = TypeVar("T")

MARK = b"\xf0ovt"

_HEAD = struct.Struct("<4sI")


def framed(body: bytes) -> bytes:
    """Return `body` as a frame."""
    return _HEAD.pack(MARK, len(body)) + body


class FrameReader(Generic[T]):
    """Splits a stream of bytes, received in arbitrary pieces, into decoded frames.

    Args:
        read: Decodes the body of a frame; raises MessageError.
        most_bytes: The largest allowed body, in bytes.
        wrong: Makes the last item of the stream from an error. After a body that is too long or
            cannot be decoded, the rest of the stream is ignored. By default the error is raised.
    """

    def __init__(
        self,
        read: Callable[[memoryview], T],
        most_bytes: int = LONGEST_LINE,
        wrong: Callable[[str], T] | None = None,
    ) -> None:
        self._read, self._most_bytes, self._wrong = read, most_bytes, wrong
        self._rest = bytearray()
        self._needed = _HEAD.size  # bytes of `_rest` before there is anything to read
        self._is_over = False

    def feed(self, data: bytes) -> list[T]:
        """Return the items that `data` completes, in order.

        Raises:
            MessageError: A frame cannot be decoded, and `wrong` was not given.
        """
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return []
            data = bytes(self._rest)
            self._rest.clear()
        found: list[T] = []
        if self._is_over:
            return found
        try:
            self._read_all(data, found)
        except MessageError as error:
            if self._wrong is None:
                raise
            self._is_over = True
            found.append(self._wrong(str(error)))
        return found

    def _read_all(self, data: bytes, found: list[T]) -> None:
        """Append the items in `data` to `found`, and store the incomplete rest."""
        view, position, end = memoryview(data), 0, len(data)
        self._needed = _HEAD.size
        while position + _HEAD.size <= end:
            mark, length = _HEAD.unpack_from(data, position)
            if mark != MARK:
                raise MessageError(f"{data[position : position + 40]!r}, where a message should begin")
            if length > self._most_bytes:
                raise MessageError(f"a message of {length} bytes: at most {self._most_bytes} are read")
            stop = position + _HEAD.size + length
            if stop > end:
                self._needed = _HEAD.size + length
                break
            found.append(self._read(view[position + _HEAD.size : stop]))
            position = stop
        if position < end:
            self._rest += view[position:]
