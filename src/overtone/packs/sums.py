"""The file `SHA256SUMS` of a pack, in the format of coreutils' `sha256sum`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from typing import BinaryIO

from overtone.errors import DamagedError

SUMS = "SHA256SUMS"
LARGEST_BYTES = 64 << 20
"""Bytes of a file of a pack that is read whole: `SHA256SUMS` and the JSON files."""

_LINE = re.compile(r"(\\?)([0-9a-f]{64})  (.+)", re.DOTALL)
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_CHUNK_BYTES = 1 << 20


def to_lines(sums: Mapping[str, str]) -> bytes:
    """Return the contents of the file for sha256 by name, sorted by name."""
    lines = []
    for name in sorted(sums):
        escaped = "".join(_ESCAPES.get(one, one) for one in name)
        lines.append(f"{chr(92) if escaped != name else ''}{sums[name]}  {escaped}\n")
    return os.fsencode("".join(lines))


def from_lines(data: bytes, pack: str) -> dict[str, str]:
    """Return sha256 by name.

    Args:
        data: The contents of the file.
        pack: The pack, for errors.

    Raises:
        DamagedError: A line has another format, or names a file twice, the list itself, or a file outside
            of the pack.
    """
    sums: dict[str, str] = {}
    *lines, rest = os.fsdecode(data).split("\n")
    for number, line in enumerate([*lines, rest] if rest else lines, 1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise DamagedError(f"{pack} is damaged: line {number} of {SUMS} is not a sha256 and a file name")
        name = _unescaped(found[3]) if found[1] else found[3]
        if not is_inside(name):
            raise DamagedError(
                f"{pack} is refused: line {number} of {SUMS} names {name!r}, outside of the pack"
            )
        if name in sums or name == SUMS:
            raise DamagedError(f"{pack} is damaged: line {number} of {SUMS} names {name!r} again")
        sums[name] = found[2]
    return sums


def is_inside(name: str) -> bool:
    """Return whether a name with "/" between its parts stays below the folder that it is joined to."""
    return "\0" not in name and not any(part in ("", ".", "..") for part in name.split("/"))


def sha256_of(file: BinaryIO, copy: Callable[[bytes], object] | None = None) -> str:
    """Return the sha256 of an open file; each chunk is passed to `copy`, too."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK_BYTES):
        digest.update(chunk)
        if copy is not None:
            copy(chunk)
    return digest.hexdigest()


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\nr])", lambda found: {"\\": "\\", "n": "\n", "r": "\r"}[found[1]], text)
