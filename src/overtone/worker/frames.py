"""Frames: how messages and orders are cut out of a stream of bytes.

A frame is the length of its body (4 bytes, little-endian) and its body.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Generic, TypeVar

from overtone.core.record_size import MAX_RECORD_BYTES
from overtone.errors import MessageError

T = TypeVar("T")

_LENGTH = struct.Struct("<I")


def framed(body: bytes) -> bytes:
    """Return `body` as a frame."""
    return _LENGTH.pack(len(body)) + body


class FrameReader(Generic[T]):
    """Turns a stream of bytes, cut anywhere, back into what was sent.

    Args:
        read: Turns the body of a frame into what it says; raises MessageError.
        most_bytes: The longest body.
        wrong: Makes the last item of the stream from an error: after a body that cannot be
            read, or that is too long, the rest of the stream is not looked at. By default the
            error is raised.
    """

    def __init__(
        self,
        read: Callable[[memoryview], T],
        most_bytes: int = MAX_RECORD_BYTES,
        wrong: Callable[[str], T] | None = None,
    ) -> None:
        self._read, self._most_bytes, self._wrong = read, most_bytes, wrong
        self._rest = bytearray()
        self._needed = 4  # bytes of `_rest` before there is anything to read
        self._is_over = False

    def feed(self, data: bytes) -> list[T]:
        """Return what `data` completes, in order.

        Raises:
            MessageError: A frame cannot be read, and there is no `wrong`.
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
        """Append to `found` what `data` holds, and keep the rest of it."""
        view, position, end = memoryview(data), 0, len(data)
        self._needed = 4
        while position + 4 <= end:
            length = _LENGTH.unpack_from(data, position)[0]
            if length > self._most_bytes:
                raise MessageError(f"a message of {length} bytes: at most {self._most_bytes} are read")
            stop = position + 4 + length
            if stop > end:
                self._needed = 4 + length
                break
            found.append(self._read(view[position + 4 : stop]))
            position = stop
        if position < end:
            self._rest += view[position:]
