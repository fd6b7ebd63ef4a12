"""The record at which each trial last changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overtone.reading.columns.opening import ColumnReader
from overtone.reading.columns.trial_columns import TrialColumns

_FEW_ROWS = 5_000
_MOST_SHARE = 0.5


class RowChanges:
    """One number for each trial: the record as of which its row is in the page's table."""

    def __init__(self) -> None:
        self._changed = np.zeros(0, np.int64)
        self._n_mentions = 0
        self._first: int | None = None
        self._n_rows = 0

    def note(self, reader: ColumnReader, columns: TrialColumns) -> None:
        """Take note of what a reading changed.

        Args:
            reader: Has read on.
            columns: What it returned.
        """
        n, length = columns.n_records, len(columns)
        if length > len(self._changed):
            self._changed = np.concatenate([
                self._changed, np.full(length + length // 2 - len(self._changed), n, np.int64)
            ])  # fmt: skip
        self._n_rows = length
        if self._first is None:
            self._first = n
            _, self._n_mentions = reader.rows_since(0)
            self._changed[:length] = n
            return
        rows, self._n_mentions = reader.rows_since(self._n_mentions)
        self._changed[rows] = n

    def rows_since(self, n: int, newest: int) -> NDArray[np.int64] | None:
        """Return the trials that changed after record `n`, in rising order.

        Args:
            newest: The last record.

        Returns:
            None if it is not known what changed since, or if this is most of the trials.
        """
        if self._first is None or not self._first <= n <= newest:
            return None
        rows = np.flatnonzero(self._changed[: self._n_rows] > n)
        if len(rows) > max(_FEW_ROWS, _MOST_SHARE * self._n_rows):
            return None
        return rows
