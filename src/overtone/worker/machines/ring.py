"""The file with the last samples of a machine: records of one size, of which the newest replaces the oldest.

A file begins with `HEADER`: a mark, the number of GPUs and of places. A record has its number, its
checksum, and the numbers of a sample; record n is at place n % places. A reader sorts by the number, and
leaves out records whose checksum is wrong, such as one that is being written.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from urllib.parse import quote, unquote
from zlib import crc32

from overtone.errors import StorageError
from overtone.regular_files import flags, read_regular
from overtone.store.folder_mark import FolderMark
from overtone.worker.machines import EVERY_S
from overtone.worker.machines.sample import MOST_GPUS, N_NUMBERS, MachineSample

FOLDER = "machines"
"""The folder below the experiment's that holds the files."""

KEPT_S = 24 * 3600
PLACES = int(KEPT_S / EVERY_S)
HEADER = struct.Struct("<8sIIxxxxxxxx")
ENDING = ".ring"

_MARK = b"OVTRING1"
_HEAD = struct.Struct("<QIxxxx")  # number, checksum
_OPEN = os.O_RDWR | os.O_CREAT | flags("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")


def file_name(node: str) -> str:
    """Return the name of a node's file."""
    return f"{quote(node, safe=' @:=+,')[:200]}{ENDING}"


def node_of(name: str) -> str:
    """Return the node of a file."""
    return unquote(name.removesuffix(ENDING))


def record_bytes(n_gpus: int) -> int:
    """Return the size of a record."""
    return _HEAD.size + 8 * (N_NUMBERS + 3 * n_gpus)


def records(data: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """Return the number of GPUs in a ring's contents, and (number, packed sample) of each record, by number.

    Raises:
        ValueError: It is not a ring.
    """
    if len(data) < HEADER.size:
        return 0, []
    mark, n_gpus, places = HEADER.unpack_from(data)
    if mark != _MARK or n_gpus > MOST_GPUS or not 0 < places <= 1 << 24:
        raise ValueError("it is not a file with samples of a machine")
    size, found = record_bytes(n_gpus), []
    for at in range(HEADER.size, len(data) - size + 1, size):
        n, checksum = _HEAD.unpack_from(data, at)
        body = data[at + _HEAD.size : at + size]
        if n and checksum == _checksum(n, body):
            found.append((n, body))
    return n_gpus, sorted(found)


class Ring:
    """Adds samples to the file of a node. A disk that fails loses samples, and nothing else.

    Args:
        mark: Of the experiment's folder.
        node: The node's name.
        places: The number of samples that are kept.
    """

    def __init__(self, mark: FolderMark, node: str, places: int = PLACES) -> None:
        self._mark, self._node, self._places = mark, node, places
        self._fd = -1
        self._n = self._n_gpus = 0

    def put(self, sample: MachineSample) -> None:
        """Add a sample."""
        with suppress(OSError):
            if self._fd < 0 or len(sample.gpus) != self._n_gpus:
                self._open(len(sample.gpus))
            numbers = sample.as_numbers()
            body = struct.pack(f"<{len(numbers)}d", *numbers)
            record = _HEAD.pack(self._n + 1, _checksum(self._n + 1, body)) + body
            os.pwrite(self._fd, record, HEADER.size + self._n % self._places * len(record))
            self._n += 1

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self, n_gpus: int) -> None:
        """Open the file, and go on after its last record if it has this form; else begin it anew."""
        self.close()
        path = os.path.join(self._mark.make(FOLDER), file_name(self._node))
        self._n, self._n_gpus = 0, n_gpus
        header = HEADER.pack(_MARK, n_gpus, self._places)
        is_new = True
        with suppress(FileNotFoundError, ValueError, StorageError):
            data = read_regular(path, follow_links=False)
            found = records(data)[1]
            is_new = data[: HEADER.size] != header
            self._n = found[-1][0] if found and not is_new else 0
        self._fd = os.open(path, _OPEN, 0o666)
        if is_new:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, header, 0)


def _checksum(n: int, body: bytes) -> int:
    return crc32(body, n & 0xFFFFFFFF)
