"""Files beside a journal whose contents follow from its beginning, such as overviews and snapshots.

The journal takes precedence. Such a file is used only if a checksum over all of the journal that it covers
agrees. Otherwise, and if it is damaged or missing, the journal is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.regular_files import open_regular, replace_file

_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 1000


class CompanionFile:
    """A line of facts about the file, and a line with its data.

    Args:
        journal: The file whose companion it is.
        name: Its name in the same folder.
        most_bytes: Size of the data beyond which the file is not used; -1 for no limit.
    """

    def __init__(self, journal: Path, name: str, most_bytes: int = -1) -> None:
        self._journal, self._path, self._most_bytes = journal, journal.with_name(name), most_bytes
        self._covered = self._crc = 0

    def write(self, offset: int, facts: Mapping[str, Any], data: Any) -> None:
        """Replace the file by one that covers the first `offset` bytes of the journal.

        Args:
            facts: Facts that a reader compares before it uses the data.

        Raises:
            OSError: The journal cannot be read, or the file cannot be written.
        """
        self._crc = _checksum(self._journal, self._covered, offset, self._crc)
        self._covered = offset
        body = json.dumps(data, separators=(",", ":")).encode()
        head = {**facts, "offset": offset, "crc": self._crc, "body": crc32(body)}
        replace_file(self._path, b"%b\n%b\n" % (json.dumps(head).encode(), body))

    def read(self, facts: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """Return all facts of the file and its data.

        Args:
            facts: Facts that the file must have.

        Raises:
            Exception: The file is missing, damaged, or of another journal, or has other facts. Its contents
                may be anything, and so may the exception.
        """
        with open_regular(self._path, follow_links=False) as file:
            head = json.loads(file.readline(_HEAD_BYTES))
            body = file.read(self._most_bytes)[:-1]
        if {**head, **facts} != head or head["body"] != crc32(body):
            raise ValueError("it has other facts, or is damaged")
        data, offset = json.loads(body), head["offset"]
        if type(offset) is not int or offset <= 0 or _checksum(self._journal, 0, offset, 0) != head["crc"]:
            raise ValueError("it is of another journal")
        self._covered, self._crc = offset, head["crc"]
        return head, data


def _checksum(path: Path, start: int, end: int, crc: int) -> int:
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
