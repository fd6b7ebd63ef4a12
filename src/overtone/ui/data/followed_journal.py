"""A journal that is read on while somebody looks at it, and which trials changed at which record."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from overtone.errors import OvertoneError, StorageError
from overtone.reading.columns.mentions import curve
from overtone.reading.columns.opening import ColumnReader
from overtone.reading.columns.trial_columns import Curve, Exploit, TrialColumns
from overtone.regular_files import open_regular
from overtone.ui.data.column_types import ColumnTypes
from overtone.ui.data.columns_message import update_message, whole_message
from overtone.ui.data.free_memory import return_free_memory
from overtone.ui.data.keyed_columns import kept_params
from overtone.ui.data.row_changes import RowChanges

T = TypeVar("T")

_SEEN_BYTES = 64  # before the end of what was read: they tell if the journal still has it


class FollowedJournal:
    """The columns of one experiment, as far as its journal was read. Threads share it.

    Args:
        journal: The file.

    Attributes:
        error: The reason why the journal cannot be read now; "" if it can.
        n_bytes: How many bytes were read, also in the middle of a reading.
    """

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.error = ""
        self.n_bytes = 0
        self._lock = threading.RLock()
        self._reader: ColumnReader | None = None
        self._columns: TrialColumns | None = None
        self._changes = RowChanges()
        self._types = ColumnTypes()
        self._stamp: tuple[int, int, int] | None = None
        self._seen = b""
        self._header = b""
        self._n_readings = 0
        self._shared: TrialColumns | None = None
        self._decisions: NDArray[np.int64] | None = None

    def refresh(self) -> int:
        """Read what was recorded since; return the number of the last record.

        A damaged journal sets `error`, and leaves what was read before.
        """
        with self._lock:
            stamp = _stamp(self.journal)
            if stamp != self._stamp or stamp is None:
                self._read()
                self._stamp = stamp
            return self.n

    @property
    def n(self) -> int:
        """The number of the last record that was read; 0 before the first."""
        return 0 if self._columns is None else self._columns.n_records

    @property
    def key(self) -> str:
        """The key of the journal and its reading: of another one, all columns are needed anew."""
        return f"{sha256(self._header).hexdigest()[:16]}-{self._n_readings}"

    def whole(self) -> bytes:
        """Return all trials as a message.

        Raises:
            StorageError: The journal cannot be read, and never was.
        """
        self.refresh()
        with self._lock:
            columns, types, key = self.columns(), self._types, self.key
            space = None if self._reader is None else self._reader.parts.get("space")
        message = whole_message(columns, types, key, space)
        with self._lock:
            if types.has_widened and types is self._types:
                self._renew()
                return self.whole()
        return message

    def update_since(self, n: int, key: str = "") -> bytes | None:
        """Return the present values of the trials that changed after record `n`.

        Args:
            key: The `key` of the page's columns; "" for the present one.

        Returns:
            None if the page needs all columns anew.
        """
        with self._lock:
            columns = self._columns
            if columns is None or (key and key != self.key):
                return None
            rows = self._changes.rows_since(n, self.n)
            if rows is None:
                return None
            message = update_message(columns, rows, self._types, self.key)
            if self._types.has_widened:
                self._renew()
                return None
            return message

    def columns(self) -> TrialColumns:
        """Return the columns as they are now; later readings do not change them.

        Raises:
            StorageError: The journal cannot be read, and never was.
        """
        with self._lock:
            if self._columns is None:
                self.refresh()
            if self._columns is None:
                raise StorageError(self.error)
            if self._shared is None:
                assert self._reader is not None
                self._shared = self._kept(self._columns, self._reader)
            return self._shared

    def live(self, look: Callable[[TrialColumns, ColumnReader], T]) -> T:
        """Return what a quick look at the newest columns yields; no reading changes them meanwhile.

        Raises:
            StorageError: The journal cannot be read, and never was.
        """
        with self._lock:
            if self._columns is None:
                self.refresh()
            if self._columns is None or self._reader is None:
                raise StorageError(self.error)
            return look(self._columns, self._reader)

    def decisions(self) -> NDArray[np.int64]:
        """Return the positions of the records with a decision, oldest first.

        Raises:
            StorageError: The journal cannot be read, and never was.
        """

        def look(columns: TrialColumns, reader: ColumnReader) -> NDArray[np.int64]:
            if self._decisions is None:
                self._decisions = reader.decisions()
            return self._decisions

        return self.live(look)

    def offsets(self, row: int) -> list[int]:
        """Return the positions of the records that name a trial; of those that name none for -1."""
        with self._lock:
            return [] if self._reader is None else self._reader.offsets(row)

    def close(self) -> None:
        """Forget what was read."""
        with self._lock:
            self._reader = self._columns = self._shared = self._stamp = None

    # --- reading -----------------------------------------------------------------------

    def _read(self) -> None:
        if self._reader is None or not self._goes_on(self._reader):
            self._begin()
        try:
            self._read_on()
        except (OvertoneError, OSError, ValueError, KeyError, TypeError) as first:
            # another journal may have taken its place: this tells
            self._begin()
            try:
                self._read_on()
            except (OvertoneError, OSError, ValueError, KeyError, TypeError):
                self._reader = None
                if self._columns is not None:
                    self._shared = self._shared or self._columns  # nothing reads on
                self.error = str(first) if isinstance(first, OvertoneError) else f"{self.journal}: {first!r}"

    def _read_on(self) -> None:
        assert self._reader is not None
        reader, before = self._reader, self._columns
        is_first = reader.offset == 0
        columns = reader.read(self._note_bytes)
        self.n_bytes = reader.offset
        self.error = ""
        if is_first:
            return_free_memory()
            self._changes = RowChanges()
            self._header = _first_line(self.journal)
        self._changes.note(reader, columns)
        if not is_first and before is not None and _is_other_table(before, columns):
            self._renew()
        self._columns, self._shared, self._decisions = columns, None, None
        self._seen = _end(self.journal, reader.offset)

    def _note_bytes(self, offset: int) -> None:
        self.n_bytes = offset

    def _begin(self) -> None:
        """Read the journal from its beginning, next."""
        self._reader, self._types = ColumnReader(self.journal), ColumnTypes()
        self._renew()

    def _renew(self) -> None:
        """Let every page load all columns anew."""
        self._types.has_widened = False
        self._n_readings += 1

    def _goes_on(self, reader: ColumnReader) -> bool:
        """Return whether the journal still has what was read."""
        try:
            return (
                reader.offset > 0
                and os.stat(self.journal).st_size >= reader.offset
                and _end(self.journal, reader.offset) == self._seen
                and _first_line(self.journal) == self._header
            )
        except (OSError, OvertoneError):
            return False

    def _kept(self, columns: TrialColumns, reader: ColumnReader) -> TrialColumns:
        """Return columns that later readings do not change."""
        reader.keep()

        def curve_of(row: int, metric: str) -> Curve:
            return curve(self.journal, self.offsets(row), columns.ids[row], metric)

        def exploits_of(rows: Sequence[int]) -> Sequence[Exploit]:
            with self._lock:
                return columns.exploits(rows)

        return replace(columns, curve=curve_of, exploits=exploits_of)


def _is_other_table(before: TrialColumns, after: TrialColumns) -> bool:
    """Return whether an update of the changed rows does not tell all that is new."""
    if before.goals != after.goals and bool((before.n_results > 0).any()):
        return True
    if not set(kept_params(before)) <= set(kept_params(after)):
        return True
    return any(
        (column.levels is None) != (after.params[name].levels is None)
        for name, column in before.params.items()
        if name in after.params
    )


def _stamp(journal: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(journal)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _end(journal: Path, offset: int) -> bytes:
    with open_regular(journal, buffer_bytes=0) as file:
        file.seek(max(0, offset - _SEEN_BYTES))
        return file.read(min(_SEEN_BYTES, offset))


def _first_line(journal: Path) -> bytes:
    with open_regular(journal) as file:
        return file.readline(1 << 20)
