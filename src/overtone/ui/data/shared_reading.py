"""The columns that a followed journal has, for an index of single trials."""

from __future__ import annotations

from collections.abc import Callable

from overtone.reading.columns.mentions import ByTrial
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.ui.data.followed_journal import FollowedJournal


class SharedReading:
    """Reads a followed journal as `ColumnReader` reads its own."""

    def __init__(self, followed: FollowedJournal) -> None:
        self._followed = followed

    def read(self, progress: Callable[[int], None] = lambda offset: None) -> TrialColumns:
        """Return the columns as far as the journal goes now; see `ColumnReader.read`."""
        self._followed.refresh()
        return self._followed.columns()

    @property
    def is_continuable(self) -> bool:
        """Whether records can be read without those before them."""
        return self._followed.live(lambda columns, reader: reader.is_continuable)

    @property
    def time(self) -> float:
        """The time of the last record, in seconds that the experiment has run."""
        return self._followed.live(lambda columns, reader: reader.time)

    @property
    def rungs(self) -> set[float]:
        """The rungs at which rulings were made."""
        return self._followed.live(lambda columns, reader: reader.rungs)

    def offsets(self, row: int) -> list[int]:
        """Return the positions of the records that name a trial; of those that name none for -1."""
        return self._followed.offsets(row)

    def mentions(self) -> ByTrial:
        """Return the positions of the records that name trials."""
        return self._followed.live(lambda columns, reader: reader.mentions())
