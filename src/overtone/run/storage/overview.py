"""The overview for `overtone ls` next to the journal, which spares reading the journal."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from overtone.reading.overview_file import FEWEST, OverviewFile
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.journal.writer import JournalWriter
    from overtone.run.parts import Parts


class Overview:
    """The overview file of a run.

    A simulated world has none: its events take so little time that reading them again would be seen.
    """

    def __init__(self, parts: Parts, journal: JournalWriter) -> None:
        repeats = parts.plan.engine.capabilities.repeats
        self._file = None if repeats else OverviewFile(parts.folder / JOURNAL)
        self._journal = journal

    def write(self) -> None:
        """Write the overview if the journal is long enough. Errors are ignored: readers can do without."""
        if self._file is not None and self._journal.next_n > FEWEST and self._journal.is_at_path:
            with suppress(Exception):
                self._file.write()
