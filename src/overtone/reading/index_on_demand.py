"""The index of a long journal: columns of all trials, and the records of those trials that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from overtone.core.messages import Discarded, Record, Reported, Tick
from overtone.core.table import Row
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.text import LazyMetrics
from overtone.reading.journal_index import JournalIndex
from overtone.reading.trial_index import TrialIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from overtone.reading.columns.chosen_results import Chosen
    from overtone.reading.columns.mentions import ByTrial
    from overtone.reading.columns.trial_columns import Column, TrialColumns

T = TypeVar("T")

LONG_BYTES = 16 << 20
"""Shorter journals are read in half a second: they are indexed as a whole."""

MOST_TRIALS = 500
"""If more trials are asked for, the whole journal is indexed, which takes less time."""


class ColumnReading(Protocol):
    """The interface of a `ColumnReader` that an index uses."""

    def read(self, progress: Callable[[int], None] = ...) -> TrialColumns:
        """Return the columns as far as the journal goes now."""

    @property
    def is_continuable(self) -> bool:
        """Whether records can be read without those before them."""

    @property
    def time(self) -> float:
        """The time of the last record."""

    @property
    def rungs(self) -> set[float]:
        """The rungs at which rulings were made."""

    def offsets(self, row: int) -> list[int]:
        """Return the positions of the records that name a trial; of those that name none for -1."""

    def mentions(self) -> ByTrial:
        """Return the positions of the records that name trials."""


class IndexOnDemand(JournalIndex):
    """The index of a journal, of which only the columns are read at first, if it is long.

    Rows and pasts of trials are read when they are asked for, and the whole journal with the
    first one beyond `MOST_TRIALS`.

    Args:
        journal, codec, url: See `JournalIndex`.
        builds: Whether to build the columns if the cache does not have them. It takes as long as
            indexing the whole journal: this pays if few trials are asked for, or if it is read again.
        reading: Reads the columns, for others too; by default the index reads them itself, if the journal
            is long.
    """

    def __init__(
        self,
        journal: Path,
        codec: Codec | None = None,
        url: str = "",
        builds: bool = False,
        reading: ColumnReading | None = None,
    ) -> None:
        super().__init__(journal, codec, url)
        self._builds = builds
        self._reading: ColumnReading | None = reading
        self._known: dict[str, tuple[Row, TrialIndex]] = {}
        self._discards: list[int] = []  # of checkpoints whose trials are not known
        self._numbers: dict[str, int] = {}  # of trials in the columns

    def refresh(self) -> int:
        """Read what was recorded since the last time; see `JournalIndex`."""
        if self._reading is None and not self.is_indexed and self._size() >= LONG_BYTES:
            from overtone.reading.columns.opening import ColumnReader  # it imports numpy

            reading = ColumnReader(self.journal)
            self._reading = reading if self._builds or reading.is_cached else None
        if self._reading is None:
            return super().refresh()
        from overtone.reading.reading_progress import ReadingProgress

        self._folder_names = None
        before = 0 if self.columns is None else self.columns.n_records
        self.is_indexed = False
        try:
            with ReadingProgress(self.journal) as progress:
                self.columns = self._reading.read(progress)
            if not self._reading.is_continuable:  # a trial's records need those of the others
                self._read_whole()
            elif self.columns.n_records != before:
                self._begin_columns()
        except KeyboardInterrupt:  # the facts may be half taken: the next reading begins again
            self.columns = None
            raise
        self.is_indexed = True
        return (self._reader.n if self.columns is None else self.columns.n_records) - before

    def prefer_columns(self) -> None:
        """Build columns at the first reading if the journal is long: little of each trial is asked for."""
        self._builds = True

    def chosen_results(
        self, rows: NDArray[np.int64], ts: NDArray[np.int64] | None = None, with_configs: bool = True
    ) -> Iterator[Chosen | int] | None:
        """Return a result of each of many trials. On a terminal, stderr shows how far it is if it takes long.

        Args:
            rows: The numbers of trials, in rising order.
            ts: The iteration of each trial's result, which it has; None for the last results.
            with_configs: Whether to read the configs, too.

        Returns:
            Results of many trials at a time; instead of a trial that is to be read by itself, its number.
            None if many are, or if no columns were read. See `ChosenResults.read`.
        """
        if self.columns is None or self._reading is None:
            return None
        from overtone.reading.columns.chosen_results import ChosenResults

        decode = self._codec.config if with_configs else None
        reader = ChosenResults(self.journal, self.columns, self._reading.mentions(), decode)
        found = reader.read(rows, ts, MOST_TRIALS - len(self._known))
        return None if found is None else self._with_progress(found, len(rows))

    def _with_progress(self, parts: Iterator[Chosen | int], n: int) -> Iterator[Chosen | int]:
        """Yield the results of `n` trials, and show how many were read."""
        from overtone.reading.reading_progress import ReadingProgress

        done = 0
        with ReadingProgress(self.journal) as progress:
            for part in parts:
                yield part
                done += 1 if isinstance(part, int) else len(part.rows)
                progress.show_share(done / n)

    def parameter_columns(self) -> Mapping[str, Column] | None:
        """Return the hyperparameters of all trials; None if they do not tell the configs exactly."""
        if self.columns is None or self._codec.has_objects:
            return None
        from overtone.reading.columns.parameter_fold import are_exact

        return self.columns.params if are_exact(self.columns.params) else None

    def _trial(self, trial_id: str) -> tuple[Row, TrialIndex]:
        if self.columns is not None and trial_id not in self._known and len(self._known) >= MOST_TRIALS:
            self._read_whole()
        if self.columns is None:
            return self.table.rows[trial_id], self._pasts[trial_id]
        found = self._known.get(trial_id)
        if found is None:
            found = self._known[trial_id] = self._read_trial(trial_id)
        return found

    def _read_trial(self, trial_id: str) -> tuple[Row, TrialIndex]:
        """Fold the records that name a trial."""
        from overtone.reading.columns.mentions import bodies

        assert self._reading is not None
        one = self._part()
        offsets = list(merge(self._reading.offsets(self._numbers[trial_id]), self._discards))
        for offset, body in zip(offsets, bodies(self.journal, offsets), strict=True):
            one._take(trial_id, offset, body)
        if trial_id not in one.table.rows:
            raise StorageError(f"{self.journal} was changed after it was read: call refresh()")
        return one.table.rows[trial_id], one._pasts[trial_id]

    def _part(self) -> IndexOnDemand:
        """Return an index of the same journal, of which nothing was read."""
        one = object.__new__(IndexOnDemand)
        one.journal, one.folder, one._codec = self.journal, self.folder, self._codec.anew()
        one.columns = None
        one._begin()
        return one

    def _take(self, trial_id: str, offset: int, body: bytes) -> None:
        """Apply what a record says of one trial."""
        plain = PLAIN_REPORT.match(body)
        if plain is not None:
            n, time, _, _, t = plain.groups()
            row = self.table.show(int(n), float(time), trial_id, int(t), LazyMetrics(body[plain.end() :]))
            self._pasts[trial_id].offsets.append(offset)
            row.n_results = len(self._pasts[trial_id].offsets)
            return
        record = self._codec.decode(body, True)
        assert record is not None  # only records name trials
        self._reader.offset = offset
        self._on_record(_restricted(record, trial_id))
        past = self._pasts.get(trial_id)
        is_discard = type(record.event) is Discarded and not record.choices
        if past is not None and not is_discard and offset not in past.mentions[-1:]:
            past.mentions.append(offset)  # it is named as a source

    def _begin_columns(self) -> None:
        """Take the facts about the whole experiment from the columns."""
        from overtone.reading.columns.mentions import ALL, bodies

        assert self.columns is not None
        assert self._reading is not None
        self._begin()
        self._known = {}
        offsets = self._reading.offsets(ALL)
        self._discards = []
        for offset, body in zip(offsets, bodies(self.journal, offsets), strict=True):
            if (record := self._codec.decode(body, True)) is not None:
                self._reader.offset = offset
                self._on_record(record)
                if type(record.event) is Discarded:
                    self._discards.append(offset)
        table, status = self.table, self.columns.status
        assert status.levels is not None
        counts = dict.fromkeys(status.levels, 0)
        for code in status.values.tolist():
            counts[status.levels[code]] += 1
        table.counts = {name: count for name, count in counts.items() if count}
        ids = self.columns.ids
        self._numbers = {trial_id: number for number, trial_id in enumerate(ids)}
        table.rows = _OnDemand(ids, lambda one: self._trial(one)[0])  # type: ignore[assignment]
        self._pasts = _OnDemand(ids, lambda one: self._trial(one)[1])  # type: ignore[assignment]
        table.n, table.time = self.columns.n_records, self._reading.time
        self.rungs = self._reading.rungs

    def _read_whole(self) -> None:
        """Index the whole journal, from now on."""
        self.columns = self._reading = None
        self._known = {}
        self._begin()
        super().refresh()

    def _size(self) -> int:
        try:
            return self.journal.stat().st_size
        except OSError:
            return 0


class _OnDemand(Mapping[str, T]):
    """The rows or pasts of all trials, each read when it is asked for."""

    def __init__(self, ids: Iterable[str], read: Callable[[str], T]) -> None:
        self._ids, self._read = dict.fromkeys(ids), read

    def __getitem__(self, trial_id: str) -> T:
        if trial_id not in self._ids:
            raise KeyError(trial_id)
        return self._read(trial_id)

    def __contains__(self, trial_id: object) -> bool:
        return trial_id in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def _restricted(record: Record, trial_id: str) -> Record:
    """Return what a record says of one trial."""
    event = record.event
    if getattr(event, "trial_id", trial_id) != trial_id:
        event = Tick(event.time)
    elif type(event) is Reported and event.checkpoint is not None and event.checkpoint.trial_id != trial_id:
        raise StorageError(f"a checkpoint of {event.checkpoint.trial_id} was saved by {trial_id}")
    choices = tuple(one for one in record.choices if getattr(one, "trial_id", None) == trial_id)
    return Record(record.n, event, choices)
