"""Arrays and a header as one message: JavaScript maps typed arrays onto it without copies.

uint32    bytes of the header, little-endian
header    UTF-8 JSON, filled with blanks so that 4 + header bytes is a multiple of 8
arrays    each at a multiple of 8 from the end of the header
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.ui.data.plain_json import plain

_ALIGNMENT = 8


class MessageArrays:
    """The arrays of a message, in the order in which they are added."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._offset = 0

    def add(self, array: NDArray[Any]) -> dict[str, Any]:
        """Append an array; return its place: "dtype", such as "f4", "offset" in bytes and "length"."""
        flat = np.ascontiguousarray(array).reshape(-1)
        place = self.add_bytes(flat.astype(flat.dtype.newbyteorder("<"), copy=False).tobytes())
        dtype = f"{'u' if flat.dtype.kind == 'b' else flat.dtype.kind}{flat.dtype.itemsize}"
        return {"dtype": dtype, "offset": place["offset"], "length": len(flat)}

    def add_bytes(self, data: bytes) -> dict[str, int]:
        """Append bytes; return their place: "offset" and "bytes"."""
        place = {"offset": self._offset, "bytes": len(data)}
        filled = -len(data) % _ALIGNMENT
        self._pieces += [data, bytes(filled)]
        self._offset += len(data) + filled
        return place

    def message(self, header: Mapping[str, Any]) -> bytes:
        """Return the message with this header, which names the places of the arrays."""
        text = json.dumps(plain(header), separators=(",", ":")).encode()
        text += b" " * (-(4 + len(text)) % _ALIGNMENT)
        return b"".join([struct.pack("<I", len(text)), text, *self._pieces])


def decoded(message: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header of a message, and the bytes after it."""
    (size,) = struct.unpack_from("<I", message)
    return json.loads(message[4 : 4 + size]), message[4 + size :]


def array_at(data: bytes, place: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array at a place of a message."""
    return np.frombuffer(data, np.dtype(f"<{place['dtype']}"), place["length"], place["offset"])


def texts_at(data: bytes, place: Mapping[str, Any]) -> Sequence[str]:
    """Return the texts at a place of a message, which are joined by line breaks there."""
    text = data[place["offset"] : place["offset"] + place["bytes"]].decode()
    return text.split("\n") if text else []
