"""A file with facts and arrays, which is mapped into memory and checked against its checksum.

    overtone-columns VERSION CHECKSUM LENGTH\\n    64 bytes, filled up with blanks
    facts and the list of arrays                   LENGTH bytes of JSON
    arrays                                         each at a multiple of 64 bytes

Nothing in it is executed. Integers are stored with as few bytes as their values need.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from overtone.journal.text import dumps, loads
from overtone.regular_files import open_regular

VERSION = 6
"""Of the contents: a file of another version is not used."""

_LINE_BYTES = 64
_LINE = b"overtone-columns %d %08x %d"
_TYPES = frozenset({"i1", "i2", "i4", "i8", "u1", "b1", "f8"})


def write_arrays(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Replace a file atomically, readable by its owner alone.

    Args:
        facts: JSON data.
        arrays: One-dimensional arrays of integers, truth values or float64, by name.

    Raises:
        OSError: It cannot be written. Then the earlier file is as it was.
    """
    listed, pieces, place = [], [], 0
    for name, array in arrays.items():
        stored = _narrowed(array)
        listed.append([name, f"{stored.dtype.kind}{stored.dtype.itemsize}", len(stored), place])
        pieces.append(stored.tobytes())
        pieces.append(bytes(-len(pieces[-1]) % _LINE_BYTES))
        place += len(pieces[-2]) + len(pieces[-1])
    head = dumps({"facts": facts, "arrays": listed}).encode()
    head += b" " * (-len(head) % _LINE_BYTES)
    checksum = crc32(head)
    for piece in pieces:
        checksum = crc32(piece, checksum)
    line = _LINE % (VERSION, checksum, len(head))
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}{UNFINISHED}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(line.ljust(_LINE_BYTES - 1) + b"\n" + head)
            file.writelines(pieces)
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise


UNFINISHED = ".unfinished"
"""Ends the name of a file that is being written, or whose writer was killed."""


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the facts and the arrays of a file; changes of the arrays do not change the file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is damaged, or of another version.
    """
    with open_regular(path, follow_links=False, buffer_bytes=0) as file:
        if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
            raise ValueError("it is another user's")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    line = mapped[:_LINE_BYTES]
    words = line.split()
    length = int(words[-1])
    with memoryview(mapped) as view:
        checksum = crc32(view[_LINE_BYTES:])
    if line != (_LINE % (VERSION, checksum, length)).ljust(_LINE_BYTES - 1) + b"\n":
        raise ValueError("it is damaged, or of another version")
    start = _LINE_BYTES + length
    head = loads(mapped[_LINE_BYTES:start].decode())
    arrays = {}
    for name, kind, count, place in head["arrays"]:
        if kind not in _TYPES:
            raise ValueError(f"it has an array of {kind!r}")
        arrays[name] = np.frombuffer(mapped, np.dtype(kind), count, start + place)
    return head["facts"], arrays


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers with as few bytes as their values need; other arrays as they are."""
    if array.dtype.kind != "i" or not len(array):
        return array
    least, most = array.min(), array.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return array.astype(kind, copy=False)
    return array
