"""A journal as numbered, immutable pieces at a URL.

    journal/000001-f1.jsonl    the first whole records
    journal/000002-f1.jsonl    the records that follow
    journal/000003-f2.jsonl    written by the next driver, whose lease has the fencing number 2

A driver that has lost its lease may still write a piece. The piece counts only if no driver with a
higher fencing number has written a piece of the same or a smaller number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overtone.errors import StorageError

if TYPE_CHECKING:
    from overtone.store.files import RemoteFiles

FOLDER = "journal"
_NAME = re.compile(rf"{FOLDER}/(\d{{6,}})-f(\d+)\.jsonl")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a journal.

    Attributes:
        number: Its place, from 1.
        fence: The fencing number of its writer.
        begin: Position of its first byte in the whole journal.
        end: Position after its last byte.
    """

    number: int
    fence: int
    begin: int
    end: int

    @property
    def name(self) -> str:
        """The path of the segment below the experiment's URL."""
        return segment_name(self.number, self.fence)


def segment_name(number: int, fence: int) -> str:
    """Return the path of a piece, such as "journal/000001-f1.jsonl"."""
    return f"{FOLDER}/{number:06d}-f{fence}.jsonl"


def segments(files: RemoteFiles) -> list[Segment]:
    """Return the pieces of the journal at `files`, in order, without late ones of former holders.

    Raises:
        StorageError: A piece is missing, or the pieces cannot be listed.
    """
    found = sorted(
        (int(match[1]), int(match[2]), size)
        for name, size in files.sizes(FOLDER).items()
        if (match := _NAME.fullmatch(name))
    )
    starts: dict[int, int] = {}
    for number, fence, _ in found:
        starts.setdefault(fence, number)
    chain: list[Segment] = []
    end = 0
    for number, fence, size in found:
        if any(start <= number for later, start in starts.items() if later > fence):
            continue
        if number != len(chain) + 1:
            raise StorageError(
                f"{files.url}/{FOLDER}: piece {len(chain) + 1} of the journal is missing, and piece {number} "
                "is there. Bring it back, or delete all that follow, which gives up what they recorded"
            )
        chain.append(Segment(number, fence, end, end + size))
        end += size
    return chain
