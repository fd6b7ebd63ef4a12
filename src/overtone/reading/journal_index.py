"""An experiment's journal as an index: every trial's state, and where its records lie in the file.

The results themselves stay on the disk, all but the last one of each trial, until somebody
asks for them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from overtone.core.lineage import Lineage
from overtone.core.messages import (
    Added,
    Discarded,
    Ended,
    Interrupted,
    Record,
    Reported,
    Resumed,
    Ruled,
    Saved,
    Started,
)
from overtone.core.sizes import LONGEST_LINE
from overtone.core.table import Row, TrialTable
from overtone.core.types import Metrics
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.garbage import not_collecting
from overtone.journal.lines import header
from overtone.journal.newest_parts import newest_parts
from overtone.journal.plain_reports import PLAIN_REPORT, plain_metrics
from overtone.journal.seals import SEAL_BYTES, unsealed, unsealed_batch
from overtone.journal.text import LazyMetrics, loads
from overtone.reading.folder_names import linked_names
from overtone.reading.journal_reader import JournalReader, Reports
from overtone.reading.packed import Packed
from overtone.reading.reading_progress import ReadingProgress
from overtone.reading.trial_index import Block, TrialIndex
from overtone.regular_files import open_regular
from overtone.space.nesting import with_tuples
from overtone.store.files import is_url

if TYPE_CHECKING:
    from overtone.reading.columns.trial_columns import TrialColumns

_MOST_ROWS, _MOST_BYTES = 1024, 1 << 20  # that are decoded at once: what fits in a cache takes less time
_FAILURES = ("raised", "killed", "limit")
_CLOSE_BYTES = 2048  # results within this distance are read faster together
_FEW_BYTES, _MANY_BYTES = 4096, 1 << 18  # to read at once, by how far a trial's results are apart


def _read_lines(file: BinaryIO, first: int, last: int, size: int) -> bytes:
    """Return `size` bytes from `first` on, and more until they hold the whole line at `last`."""
    file.seek(first)
    data, begin = file.read(size), last - first
    while data.find(b"\n", begin) < 0 and len(data) < begin + LONGEST_LINE:
        if not (more := file.read(len(data) + 1)):
            break
        data += more
    return data


class JournalIndex:
    """A journal, indexed up to where it was read.

    Args:
        journal: The file.
        codec: Needed if configs should get back values that are not data.
        url: The URL from which the journal was downloaded; "" if it was not.

    Attributes:
        journal: The file.
        folder: The experiment's folder, where it lies now.
        header: The journal's first record, with the `parts` of the newest resume that changed them.
        table: The state of all trials.
        rungs: The rungs at which rulings were made, in the units of the scheduler's clock.
        is_indexed: Whether anything but the header was read.
        columns: All trials as columns, if only these were read; see `IndexOnDemand`.
    """

    columns: TrialColumns | None = None

    def __init__(self, journal: Path, codec: Codec | None = None, url: str = "") -> None:
        self.folder = journal.parent
        self._source = url
        self.header = header(journal)
        if "parts" in self.header:
            self.header["parts"] = newest_parts(journal, self.header)
        self.is_indexed = False
        self.journal = journal
        self._codec = codec or Codec(decode_config=with_tuples)
        self._begin()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the place of the journal, not its contents: unpickling reads it again."""
        return _reopened, (self._source or str(self.journal), Packed(self._codec), self.is_indexed)

    def _begin(self) -> None:
        """Forget what was read."""
        self.table = TrialTable()
        self.rungs: set[float] = set()
        self._folder_names: dict[str, str] | None = None
        self._reader = JournalReader(self.journal)
        self._pasts: dict[str, TrialIndex] = {}
        self._savers: dict[str, TrialIndex] = {}
        self._add_offset: dict[bytes, Callable[[int], None]] = {}
        self._of_all = array("Q")

    def refresh(self) -> int:
        """Read what was recorded since the last time; on a terminal, stderr shows how far it is.

        Returns:
            How many records that were.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        self.is_indexed = True
        self._folder_names = None
        if self.journal.exists() and self.journal.stat().st_size < self._reader.offset:
            self._begin()  # a failed append was taken back, or another experiment is there now
        reader, newest = self._reader, dict[bytes, bytes]()
        before = reader.n
        part: Reports | bytes = b""
        with not_collecting(), ReadingProgress(self.journal) as progress:
            try:
                for part in reader.parts():
                    if isinstance(part, Reports):
                        self._on_reports(part)
                        # only the newest of each trial is decoded
                        newest.update(zip(part.trials, part.bodies, strict=True))
                    elif (record := self._codec.decode(part, True)) is not None:
                        row = self._on_record(record)
                        if row is not None:
                            newest.pop(row.id.encode(), None)
                    progress(reader.offset)
            except KeyError as error:
                n = reader.n + 1
                if isinstance(part, Reports):
                    n += part.trials.index(error.args[0].encode())
                raise StorageError(
                    f"{self.journal}, line {n}: it is about {error}, which no line before mentions"
                ) from error
            except KeyboardInterrupt:  # a part may be half taken: the next reading begins again
                self._begin()
                self.is_indexed, newest = False, {}
                raise
            finally:
                self._show(newest.values())
                self.table.n = reader.n
        return reader.n - before

    def _on_reports(self, reports: Reports) -> None:
        """Take note of where the results lie."""
        add_offset, offset = self._add_offset, self._reader.offset
        for trial in dict.fromkeys(reports.trials):
            if trial not in add_offset:
                add_offset[trial] = self._pasts[trial.decode()].offsets.append
        for trial, body in zip(reports.trials, reports.bodies, strict=True):
            add_offset[trial](offset)
            offset += len(body) + SEAL_BYTES

    def _show(self, newest: Iterable[bytes]) -> None:
        """Take note of the newest report of each trial, where it led to nothing."""
        table, latest = self.table, self.table.time
        for body in newest:
            found = PLAIN_REPORT.match(body)
            assert found is not None
            n, time, name, _, t = found.groups()
            row = table.show(int(n), float(time), name.decode(), int(t), LazyMetrics(body[found.end() :]))
            row.n_results = len(self._pasts[row.id].offsets)
            latest = max(latest, table.time)
        table.time = latest

    @property
    def folder_names(self) -> dict[str, str]:
        """The names of `trial_dirname_creator` by trial id: each is a link to a trial's folder."""
        if self._folder_names is None:
            self._folder_names = linked_names(self.folder, self.header, self.table.rows)
        return self._folder_names

    def lineage(self) -> Lineage:
        """Return the configs with which trials trained, and the checkpoints from which they resumed."""
        lineage, decode = Lineage(), self._codec.anew().decode
        for part in JournalReader(self.journal).parts():
            if isinstance(part, bytes) and (record := decode(part, True)) is not None:
                lineage.apply(record)
        return lineage

    def records(self, trial_id: str) -> Iterator[Record]:
        """Yield the records that name a trial, and those about the whole experiment, in order."""
        past = self._pasts[trial_id]
        offsets = groupby(merge(past.offsets, past.mentions, self._of_all))  # a result may be a mention, too
        for body in self._bodies(trial_id, (offset for offset, _ in offsets)):
            record = self._codec.decode(body, True)
            assert record is not None  # only records are in the index
            yield record

    def past(self, trial_id: str) -> TrialIndex:
        """Return the facts about a trial that are not in its row."""
        return self._pasts[trial_id]

    def results(self, trial_id: str, newest_first: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a trial's results from the file, complete, one at a time."""
        row, past = self.table.rows[trial_id], self._pasts[trial_id]
        step = -1 if newest_first else 1
        numbers = range(len(past.offsets))[::step]
        for number, body in zip(numbers, self._bodies(trial_id, past.offsets[::step]), strict=True):
            yield past.complete(row, number, self._reported(trial_id, body))

    def blocks(self, trial_id: str) -> Iterator[Block]:
        """Yield a trial's results from the file, oldest first, many at a time."""
        row, past = self.table.rows[trial_id], self._pasts[trial_id]
        for numbers, constant in past.blocks(row, self._block(trial_id)):
            rows = self._reports(trial_id, numbers)
            if row.is_final and numbers.stop == len(past.offsets):
                rows[-1]["done"] = True
            yield Block(rows, constant)

    def _block(self, trial_id: str) -> int:
        """Return the number of a trial's results to read at once."""
        return max(1, min(_MOST_ROWS, _MOST_BYTES // max(1, self._apart(trial_id))))

    def _apart(self, trial_id: str) -> int:
        """Return the mean distance of a trial's results in the journal, in bytes."""
        offsets = self._pasts[trial_id].offsets
        return int(offsets[-1] - offsets[0]) // len(offsets) if offsets else 0

    def _reports(self, trial_id: str, numbers: range) -> list[dict[str, Any]]:
        """Return the metrics of a trial's results of these numbers."""
        texts = self._plain(trial_id, numbers)
        if texts is not None:
            try:
                rows: list[dict[str, Any]] = loads(f"[{b','.join(texts).decode()}]")
            except ValueError:  # one of them: it is named below
                rows = []
            if len(rows) == len(numbers) and set(map(type, rows)) == {dict}:
                return rows
        offsets = self._pasts[trial_id].offsets[numbers.start : numbers.stop]
        return [dict(self._reported(trial_id, body)) for body in self._bodies(trial_id, offsets)]

    def _plain(self, trial_id: str, numbers: range) -> list[bytes] | None:
        """Return the texts of results; None if they are far apart, or if one had an effect or is damaged."""
        offsets = self._pasts[trial_id].offsets[numbers.start : numbers.stop]
        start, last = offsets[0], offsets[-1]
        if last - start > len(numbers) * _CLOSE_BYTES:
            return None
        with open_regular(self.journal, buffer_bytes=0) as file:
            data = _read_lines(file, start, last, last - start + _CLOSE_BYTES)
        begins = [offset - start for offset in offsets]
        bodies = unsealed_batch([data[begin : data.find(b"\n", begin)] for begin in begins])
        return plain_metrics(bodies, trial_id.encode()) if len(bodies) == len(numbers) else None

    def _bodies(self, trial_id: str, offsets: Iterable[int]) -> Iterator[bytes]:
        """Yield the verified lines at these positions, most of which are results of a trial."""
        size = _FEW_BYTES if self._apart(trial_id) > _FEW_BYTES else _MANY_BYTES
        chunk, start = b"", 0
        with open_regular(self.journal, buffer_bytes=0) as file:
            for offset in offsets:
                at = offset - start
                end = chunk.find(b"\n", at) if 0 <= at < len(chunk) else -1
                if end < 0:
                    start = offset
                    chunk = _read_lines(file, start, start, size)
                    at, end = 0, chunk.find(b"\n")
                body = unsealed(chunk[at:end]) if end >= 0 else None
                if body is None:
                    raise self._changed()
                yield body

    def _reported(self, trial_id: str, body: bytes) -> Metrics:
        record = self._codec.decode(body)
        if record is None or type(record.event) is not Reported or record.event.trial_id != trial_id:
            raise self._changed()
        return record.event.metrics

    def _changed(self) -> StorageError:
        return StorageError(f"{self.journal} was changed after it was read: call refresh()")

    def last_result(self, trial_id: str) -> dict[str, Any]:
        """Return a trial's last result, complete; empty before the first."""
        row, past = self.table.rows[trial_id], self._pasts[trial_id]
        return past.complete(row, len(past.offsets) - 1, row.metrics) if past.offsets else {}

    def _on_record(self, record: Record) -> Row | None:
        """Take note of a record at the reader's place; return the trial whose result it shows, if any."""
        pasts, event, offset = self._pasts, record.event, self._reader.offset
        row = self.table.apply(record)
        names = {getattr(event, "trial_id", None)}
        for choice in record.choices:
            if type(choice) is Added:
                pasts[choice.trial_id] = TrialIndex()
            elif type(choice) is Ruled and choice.why is not None and choice.why.rung is not None:
                self.rungs.add(float(choice.why.rung))
            names |= {getattr(choice, "trial_id", None), getattr(choice, "source", None)}
        for name in pasts.keys() & names:
            pasts[name].mentions.append(offset)
        if row is not None:
            pasts[row.id].offsets.append(offset)
            row.n_results = len(pasts[row.id].offsets)
        match event:
            case Started():
                pasts[event.trial_id].on_start(self.table.rows[event.trial_id])
            case Reported() | Saved():
                if event.checkpoint is not None:
                    saver = pasts[event.checkpoint.trial_id]
                    saver.checkpoints.pop(event.checkpoint.uri, None)  # saved again: it is the newest now
                    saver.checkpoints[event.checkpoint.uri] = event.checkpoint
                    self._savers[event.checkpoint.uri] = saver
            case Discarded():
                if event.uri in self._savers:
                    del self._savers.pop(event.uri).checkpoints[event.uri]
            case Ended():
                past = pasts[event.trial_id]
                is_over = self.table.rows[event.trial_id].status == "ERROR"
                if event.cause in _FAILURES or (event.cause == "out_of_memory" and is_over):
                    past.failures += 1
                if event.traceback:
                    past.traceback = event.traceback
            case Resumed() | Interrupted():
                self._of_all.append(offset)
            case _:  # the others say nothing of one trial's past
                pass
        return row


def _reopened(source: str, codec: Packed, is_indexed: bool) -> JournalIndex:
    """Return the index that was pickled, of the journal as it is now."""
    from overtone.reading.location import located

    index = JournalIndex(located(source), codec.value, source if is_url(source) else "")
    if is_indexed:
        index.refresh()
    return index
