"""Checksum of the beginning of a journal, for files that are valid only with their own journal."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from overtone.regular_files import open_regular

_CHUNK_BYTES = 1 << 20


def checksum_of(path: Path, start: int, end: int, crc: int) -> int:
    """Return the CRC-32 of a file's first `end` bytes; -1 if the file is shorter.

    Args:
        start: The end of the part whose checksum is known, in bytes.
        crc: The checksum of that part; 0 for no bytes.

    Raises:
        OSError: The file cannot be read.
    """
    with open_regular(path) as file:
        file.seek(start)
        left = end - start
        while left > 0:
            chunk = file.read(min(left, _CHUNK_BYTES))
            if not chunk:
                return -1
            crc, left = crc32(chunk, crc), left - len(chunk)
    return crc
