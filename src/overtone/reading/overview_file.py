"""The overview of a long experiment for `overtone ls`, which the driver keeps beside the journal."""

from __future__ import annotations

from pathlib import Path

from overtone.journal.companion_file import CompanionFile
from overtone.reading.experiment_summary import VERSION, ExperimentSummary

NAME = "overview.json"
FEWEST = 20_000
"""Fewer records than these are read within 30 ms: the journal of a short run needs no overview."""

_MOST_BYTES = 64 << 20


class OverviewFile:
    """Writes the overview of a journal, and reads on from the last one.

    Args:
        journal: The file; its folder gets the overview.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._file = CompanionFile(journal, NAME, _MOST_BYTES)
        self._summary: ExperimentSummary | None = None

    def write(self) -> None:
        """Cover all that the journal has now.

        Raises:
            OSError: The journal cannot be read or the overview cannot be written.
        """
        summary = self._summary or self.load() or ExperimentSummary()
        self._summary = None  # it is half done if reading fails
        summary.read(self._journal)
        self._summary = summary
        self._file.write(summary.data["offset"], {"version": VERSION}, summary.data)

    def load(self) -> ExperimentSummary | None:
        """Return what the overview knows; None if it is of another journal, damaged or missing."""
        try:
            head, data = self._file.read({"version": VERSION})
            return ExperimentSummary.of_data(data) if data["offset"] == head["offset"] else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return None
