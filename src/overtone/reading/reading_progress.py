"""Shows on a terminal how much of a long journal was read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from overtone.reading.progress_line import ProgressLine

_WAIT_S, _EVERY_S = 0.3, 0.25


class ReadingProgress(ProgressLine):
    """A line about the part of a journal that was read.

    Args:
        journal: The file that is read.
    """

    def __init__(self, journal: Path) -> None:
        super().__init__(_WAIT_S, _EVERY_S)
        self._journal = journal

    def __call__(self, offset: int) -> None:
        """Take note that so many bytes were read."""
        if not self.is_due:
            return
        size = max(1, offset)
        with suppress(OSError):  # the journal may be gone by now
            size = max(size, self._journal.stat().st_size)
        self.show_share(offset / size)

    def show_share(self, share: float) -> None:
        """Take note that this share of the work is done, from 0 to 1."""
        if self.is_due:
            self.show(f"reading {self._journal.parent.name}: {int(100 * share)} %")
