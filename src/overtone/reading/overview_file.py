"""The overview of a long experiment for `overtone ls`, which the driver keeps beside the journal.

The journal stays the truth: the file is used only if a checksum over the part of the journal that it
covers agrees. Otherwise, and if it is missing or damaged, the journal is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.journal.checksum import checksum_of
from overtone.reading.experiment_summary import VERSION, ExperimentSummary
from overtone.regular_files import open_regular, replace_file

NAME = "overview.json"
FEWEST = 20_000
"""Fewer records than these are read within 30 ms: the journal of a short run needs no overview."""

_MOST_BYTES = 64 << 20
_HEAD_BYTES = 200


class OverviewFile:
    """Writes the overview of a journal, and reads on from the last one.

    Args:
        journal: The file; its folder gets the overview.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._summary: ExperimentSummary | None = None
        self._covered = self._crc = 0

    def write(self) -> None:
        """Cover all that the journal has now.

        Raises:
            OSError: The journal cannot be read or the overview cannot be written.
        """
        summary = self._summary or load_summary(self._journal) or ExperimentSummary()
        self._summary = None  # it is half done if reading fails
        summary.read(self._journal)
        offset = summary.data["offset"]
        self._crc = checksum_of(self._journal, self._covered, offset, self._crc)
        self._covered, self._summary = offset, summary
        body = json.dumps(summary.data, separators=(",", ":")).encode()
        head = {"version": VERSION, "offset": offset, "crc": self._crc, "body": crc32(body)}
        replace_file(self._journal.with_name(NAME), b"%b\n%b\n" % (json.dumps(head).encode(), body))


def load_summary(journal: Path) -> ExperimentSummary | None:
    """Return what the overview of a journal knows; None if it is of another journal, damaged or missing."""
    try:
        with open_regular(journal.with_name(NAME), follow_links=False) as file:
            head = json.loads(file.readline(_HEAD_BYTES))
            body = file.read(_MOST_BYTES)[:-1]
        if head["version"] != VERSION or head["body"] != crc32(body):
            return None
        data: dict[str, Any] = json.loads(body)
        summary = ExperimentSummary.of_data(data)
        is_same = type(head["offset"]) is int and head["offset"] == data["offset"] > 0
        return summary if is_same and checksum_of(journal, 0, data["offset"], 0) == head["crc"] else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
