"""Opens the columns of an experiment, and reads on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.reading.columns.column_cache import ColumnCache
from overtone.reading.columns.journal_fold import JournalFold, Progress
from overtone.reading.columns.mentions import ByTrial
from overtone.reading.columns.run_facts import RunFacts
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.location import located
from overtone.reading.reading_progress import ReadingProgress


def open_columns(path: str | os.PathLike[str]) -> TrialColumns:
    """Return the columns of an experiment as far as its journal goes now.

    What was read of a long journal is kept in the user's cache folder, for the next time. On a terminal,
    stderr shows how far it is if reading takes long.

    Args:
        path: The experiment's folder, its journal, or the URL of its mirror.

    Raises:
        StorageError: There is no experiment at `path`, or its journal is damaged.
    """
    journal = located(path)
    with ReadingProgress(journal) as progress:
        return ColumnReader(journal).read(progress)


class ColumnReader:
    """Reads a journal as columns, and reads on while it grows.

    Args:
        journal: The file.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._cache = ColumnCache(journal)
        self._fold: JournalFold | None = None

    def read(self, progress: Progress = lambda offset: None) -> TrialColumns:
        """Return the columns as far as the journal goes now; those that were returned before change.

        They stay as they are after `keep`.

        Args:
            progress: Is told how many bytes were read.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        fold, self._fold = self._fold, None  # it is half done if reading fails or is interrupted
        if fold is None or _size(self._journal) < fold.offset:
            # a failed append was taken back, or another experiment is there now
            self._cache = ColumnCache(self._journal)
            fold = self._cache.load() or JournalFold(self._journal)
        fold.read(progress)
        self._cache.save(fold)
        self._fold = fold
        return fold.columns()

    def keep(self) -> None:
        """Let the columns that were returned last stay as they are: the next reading works on copies."""
        self._read_fold.keep()

    @property
    def offset(self) -> int:
        """The end of what was read, in bytes; 0 before the first reading, and after a failed one."""
        return 0 if self._fold is None else self._fold.offset

    @property
    def is_cached(self) -> bool:
        """Whether a file in the cache may have the columns."""
        return self._cache.path is not None and self._cache.path.is_file()

    @property
    def is_continuable(self) -> bool:
        """Whether records can be read without those before them."""
        return self._read_fold.is_continuable

    @property
    def time(self) -> float:
        """The time of the last record, in seconds that the experiment has run."""
        return self._read_fold.time

    @property
    def run(self) -> RunFacts:
        """Facts about the run as a whole."""
        return self._read_fold.run

    @property
    def parts(self) -> Mapping[str, Any]:
        """The settings of the run, by the header or by the newest driver that noted them."""
        return self._read_fold.parts

    def row(self, trial_id: str) -> int:
        """Return the row of a trial; -1 if there is none."""
        return self._read_fold.row(trial_id)

    def decisions(self) -> NDArray[np.int64]:
        """Return the positions of the records with a decision, oldest first."""
        return self._read_fold.mentions.decisions()

    @property
    def rungs(self) -> set[float]:
        """The rungs at which rulings were made."""
        return set(self._read_fold.rungs)

    def offsets(self, row: int) -> list[int]:
        """Return the positions of the records that name a trial; of those that name none for -1."""
        return self._read_fold.mentions.of(row)

    def rows_since(self, n_mentions: int) -> tuple[NDArray[np.int32], int]:
        """Return the trials that records name after so many mentions, with repeats; and all mentions so far.

        Nothing else of a trial's row has changed since.
        """
        return self._read_fold.mentions.since(n_mentions)

    def mentions(self) -> ByTrial:
        """Return the positions of the records that name trials."""
        return self._read_fold.mentions.by_trial()

    @property
    def _read_fold(self) -> JournalFold:
        assert self._fold is not None, "call read() first"
        return self._fold


def _size(journal: Path) -> int:
    try:
        return journal.stat().st_size
    except OSError:
        return -1
