"""The trials of an analysis: made when they are first asked for, and found by id or folder."""

from __future__ import annotations

import os
from collections.abc import Collection
from itertools import islice
from typing import Any

from overtone.analysis.recorded_trial import RecordedTrial
from overtone.core.trial import Status
from overtone.errors import OvertoneError
from overtone.reading.journal_index import JournalIndex

_MOST_LISTED = 8


class TrialLookup:
    """The trials of a journal, in the order of creation. A trial stays the same object.

    Args:
        index: The journal.
        only: The ids of the trials to show; None for all.

    Attributes:
        only: The same.
    """

    def __init__(self, index: JournalIndex, only: Collection[str] | None = None) -> None:
        self._index = index
        self.only = only
        self._table = index.table
        self._n_rows = 0
        self._by_id: dict[str, RecordedTrial] = {}
        self._list: list[RecordedTrial] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return TrialLookup, (self._index, self.only)

    @property
    def all(self) -> list[RecordedTrial]:
        """Every trial; the same list until the journal was read again and has more."""
        rows = self._index.table.rows
        if self._table is not self._index.table:  # the journal was read from its beginning again
            self._table, self._n_rows, known = self._index.table, 0, self._by_id
            self._by_id = {trial_id: one for trial_id, one in known.items() if trial_id in rows}
            self._list = []
        if self._n_rows < len(rows):
            new = [
                self._by_id.get(trial_id) or RecordedTrial(trial_id, self._index)
                for trial_id in islice(rows, self._n_rows, None)
                if self.only is None or trial_id in self.only
            ]
            self._n_rows = len(rows)
            self._by_id.update((one.trial_id, one) for one in new)
            self._list = [*self._list, *new]
        return self._list

    def find(self, wanted: Any) -> RecordedTrial:
        """Return a trial by itself, its id or its folder.

        Raises:
            OvertoneError: There is no such trial; the message lists some.
        """
        trials = self.all
        name = str(getattr(wanted, "trial_id", wanted)).rstrip("/")
        found = self._by_id.get(name)
        if found is None:
            last = os.path.basename(name)
            linked = (one for one, link in self._index.folder_names.items() if link == last)
            found = self._by_id.get(last) or self._by_id.get(next(linked, ""))
            if found is not None and name in (found.local_path, os.path.join(self._index.folder, last)):
                return found
            some = ", ".join(one.trial_id for one in trials[:_MOST_LISTED]) or "none"
            more = ", ..." if len(trials) > _MOST_LISTED else ""
            raise OvertoneError(f"there is no trial {name!r}; there are {some}{more}")
        return found

    def count(self) -> dict[str, int]:
        """Return the number of trials by status, as users see it."""
        if self.only is None:
            pairs = list(self._index.table.counts.items())
        else:
            pairs = [(one.status, 1) for one in self.all]
        counts: dict[str, int] = {}
        for status, n in pairs:
            shown = Status(status).shown
            counts[shown] = counts.get(shown, 0) + n
        return counts
