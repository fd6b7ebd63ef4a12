"""An experiment's journal as an index: every trial's state, and where its results lie in the file.

The results themselves stay on the disk, all but the last one of each trial, until somebody
asks for them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

from overtone.analysis.columns import Block
from overtone.analysis.recorded_config import with_tuples
from overtone.core.lineage import Lineage
from overtone.core.messages import Added, Discarded, Ended, Record, Reported, Saved, Started
from overtone.core.sizes import LONGEST_LINE
from overtone.core.table import Row, TrialTable, constant_facts
from overtone.core.types import Checkpoint, Config, Metrics
from overtone.errors import StorageError
from overtone.journal.codec import SEAL_BYTES, Codec, unsealed, unsealed_batch
from overtone.journal.garbage import not_collecting
from overtone.journal.lines import header
from overtone.journal.newest_parts import newest_parts
from overtone.journal.plain_reports import PLAIN_REPORT, PLAIN_TRIAL, plain_metrics
from overtone.journal.reader import Lines
from overtone.journal.text import LazyMetrics, loads
from overtone.regular_files import open_regular

_MOST_ROWS, _MOST_BYTES = 1024, 1 << 20  # that are decoded at once: what fits in a cache takes less time
_CLOSE_BYTES = 2048  # results within this distance are read faster together
_FEW_BYTES, _MANY_BYTES = 4096, 1 << 18  # to read at once, by how far a trial's results are apart


class Past:
    """Facts about a trial that `Row` does not keep.

    Attributes:
        offsets: The position of each result's line in the journal, oldest first.
        checkpoints: The saved checkpoints that were not deleted, by uri, oldest first.
        failures: The number of failures of its process.
        traceback: The last traceback.
    """

    __slots__ = ("_starts", "checkpoints", "failures", "offsets", "traceback")

    def __init__(self) -> None:
        self.offsets = array("Q")
        self.checkpoints: dict[str, Checkpoint] = {}
        self.failures = 0
        self.traceback = ""
        # of each process: the number of its first result, where it ran, and the config that it began with
        self._starts: list[tuple[int, int, str, str, Config]] = []

    def on_start(self, row: Row) -> None:
        """A process began: the results from now on come from it, and were made with this config."""
        self._starts.append((len(self.offsets), row.pid, row.hostname, row.node_ip, row.config))

    def blocks(self, row: Row, size: int) -> Iterator[tuple[range, dict[str, Any]]]:
        """The numbers of all results, at most `size` at a time, with what is the same in each result."""
        ends = [*(start[0] for start in self._starts[1:]), len(self.offsets)]
        begin = 0
        for end in ends:
            for at in range(begin, end, size):
                yield range(at, min(at + size, end)), self._constant(row, at)
            begin = max(begin, end)

    def _constant(self, row: Row, number: int) -> dict[str, Any]:
        at = bisect_right(self._starts, number, key=itemgetter(0)) - 1
        if at < 0:
            return {**constant_facts(row), "config": row.config}
        _, pid, hostname, node_ip, config = self._starts[at]
        return constant_facts(row) | {"pid": pid, "hostname": hostname, "node_ip": node_ip, "config": config}

    def complete(self, row: Row, number: int, metrics: Metrics) -> dict[str, Any]:
        """Result `number` of the trial as users know it, with its constant facts and config."""
        is_last = row.is_final and number == len(self.offsets) - 1
        result = {"timesteps_total": None, **metrics, **self._constant(row, number)}
        if is_last:
            result["done"] = True
        return result


def _read_lines(file: BinaryIO, first: int, last: int, size: int) -> bytes:
    """Return `size` bytes from `first` on, and more until they hold the whole line at `last`."""
    file.seek(first)
    data, begin = file.read(size), last - first
    while data.find(b"\n", begin) < 0 and len(data) < begin + LONGEST_LINE:
        if not (more := file.read(len(data) + 1)):
            break
        data += more
    return data


class History:
    """A journal, indexed up to where it was read.

    Args:
        journal: The file.
        codec: Needed where configs should get back what is not data.

    Attributes:
        journal: The file.
        folder: The experiment's folder, where it lies now.
        header: The journal's first record, with the `parts` of the newest resume that changed them.
        table: The state of all trials.
        is_indexed: Whether anything but the header was read.
    """

    def __init__(self, journal: Path, codec: Codec | None = None) -> None:
        self.folder = journal.parent
        self.header = header(journal)
        if "parts" in self.header:
            self.header["parts"] = newest_parts(journal, self.header)
        self.table = TrialTable()
        self.is_indexed = False
        self.journal = journal
        self._codec = codec or Codec(decode_config=with_tuples)
        self._pasts: dict[str, Past] = {}
        self._savers: dict[str, Past] = {}
        self._offset = 0
        self._n = 0

    def refresh(self) -> int:
        """Read what was recorded since the last time.

        Returns:
            How many records that were.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        self.is_indexed = True
        if self.journal.exists() and self.journal.stat().st_size < self._offset:
            # a failed append was taken back, or another experiment is there now
            self.table, self._pasts, self._savers, self._offset, self._n = TrialTable(), {}, {}, 0, 0
        before = self._n
        newest: dict[bytes, bytes] = {}
        with not_collecting():
            try:
                for bodies in Lines(self.journal, self._offset, self._n).batches():
                    self._take(bodies, newest)
            except KeyError as error:
                raise StorageError(
                    f"{self.journal}, line {self._n + 1}: it is about {error}, which no line before mentions"
                ) from error
            finally:
                self._show(newest.values())
                self.table.n = self._n
        return self._n - before

    def _take(self, bodies: Sequence[bytes], newest: dict[bytes, bytes]) -> None:
        """Take note of the next lines.

        Args:
            newest: Gets the newest line of each trial if it is a plain report. Most lines are plain
                reports, and only the newest is decoded.
        """
        trial_of, pasts, offset, n = PLAIN_TRIAL.match, self._pasts, self._offset, self._n
        add_offset: dict[bytes, Callable[[int], None]] = {}
        try:
            for body in bodies:
                trial = trial_of(body)[1]  # type: ignore[index]  # it matches any line
                if trial is not None:
                    if trial not in add_offset:
                        add_offset[trial] = pasts[trial.decode()].offsets.append
                    add_offset[trial](offset)
                    newest[trial] = body
                elif (record := self._codec.decode(body, True)) is not None:
                    row = self.table.apply(record)
                    if row is not None:
                        newest.pop(row.id.encode(), None)
                        pasts[row.id].offsets.append(offset)
                        row.n_results = len(pasts[row.id].offsets)
                    self._note(record)
                offset += len(body) + SEAL_BYTES
                n += 1
        finally:
            self._offset, self._n = offset, n

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

    def lineage(self) -> Lineage:
        """Return the configs with which trials trained, and the checkpoints from which they resumed."""
        lineage = Lineage()
        for body in Lines(self.journal):
            if PLAIN_REPORT.match(body) is None and (record := self._codec.decode(body, True)) is not None:
                lineage.apply(record)
        return lineage

    def past(self, trial_id: str) -> Past:
        """Return the facts about a trial that are not in its row."""
        return self._pasts[trial_id]

    def results(self, trial_id: str, newest_first: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a trial's results from the file, complete, one at a time."""
        row, past = self.table.rows[trial_id], self._pasts[trial_id]
        numbers = range(len(past.offsets))
        for number, body in self._bodies(trial_id, reversed(numbers) if newest_first else numbers):
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
        return [dict(self._reported(trial_id, body)) for _, body in self._bodies(trial_id, numbers)]

    def _plain(self, trial_id: str, numbers: range) -> list[bytes] | None:
        """The texts of results; None if they are far apart, or if one led to something or is damaged."""
        offsets = self._pasts[trial_id].offsets[numbers.start : numbers.stop]
        start, last = offsets[0], offsets[-1]
        if last - start > len(numbers) * _CLOSE_BYTES:
            return None
        with open_regular(self.journal, buffer_bytes=0) as file:
            data = _read_lines(file, start, last, last - start + _CLOSE_BYTES)
        begins = [offset - start for offset in offsets]
        bodies = unsealed_batch([data[begin : data.find(b"\n", begin)] for begin in begins])
        return plain_metrics(bodies, trial_id.encode()) if len(bodies) == len(numbers) else None

    def _bodies(self, trial_id: str, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the verified lines of a trial's results of these numbers."""
        offsets = self._pasts[trial_id].offsets
        size = _FEW_BYTES if self._apart(trial_id) > _FEW_BYTES else _MANY_BYTES
        chunk, start = b"", 0
        with open_regular(self.journal, buffer_bytes=0) as file:
            for number in numbers:
                at = offsets[number] - start
                end = chunk.find(b"\n", at) if 0 <= at < len(chunk) else -1
                if end < 0:
                    start = offsets[number]
                    chunk = _read_lines(file, start, start, size)
                    at, end = 0, chunk.find(b"\n")
                body = unsealed(chunk[at:end]) if end >= 0 else None
                if body is None:
                    raise self._changed()
                yield number, body

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

    def _note(self, record: Record) -> None:
        """Take note of what is not in the table."""
        event = record.event
        for choice in record.choices:
            if type(choice) is Added:
                self._pasts[choice.trial_id] = Past()
        match event:
            case Started():
                self._pasts[event.trial_id].on_start(self.table.rows[event.trial_id])
            case Reported() | Saved():
                if event.checkpoint is not None:
                    saver = self._pasts[event.checkpoint.trial_id]
                    saver.checkpoints.pop(event.checkpoint.uri, None)  # saved again: it is the newest now
                    saver.checkpoints[event.checkpoint.uri] = event.checkpoint
                    self._savers[event.checkpoint.uri] = saver
            case Discarded():
                if event.uri in self._savers:
                    del self._savers.pop(event.uri).checkpoints[event.uri]
            case Ended():
                past = self._pasts[event.trial_id]
                if event.cause in ("raised", "killed", "limit"):
                    past.failures += 1
                if event.traceback:
                    past.traceback = event.traceback
            case _:  # the others say nothing of one trial's past
                pass
