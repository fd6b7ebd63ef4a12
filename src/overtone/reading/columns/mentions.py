"""The places in the journal of the records that name a trial, and learning curves from there."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overtone.core.goal import is_number, lookup, real
from overtone.core.messages import Reported
from overtone.core.sizes import LONGEST_LINE
from overtone.core.table import is_redone
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.seals import unsealed
from overtone.reading.columns.trial_columns import Curve
from overtone.regular_files import open_regular

ALL = -1
"""The row of records about the whole experiment."""

RESULT, START, CONFIG, LEAP, DECISION = 1, 2, 4, 8, 16
"""Bits for the contents of a record that names a trial: a result that counts, a start of its process, a
config, a result whose number is not its iteration, a decision (`reading.decisions.is_decision`)."""

_FEW_BYTES = 2048


class ByTrial(NamedTuple):
    """Mentions by trial, and of each trial in the order of the journal; arrays of shape (mentions,).

    Attributes:
        rows: The trials' rows, in rising order.
        offsets: The offsets of records.
        kinds: What the records say of the trials: sums of the constants above.
    """

    rows: NDArray[np.int32]
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]


class Mentions:
    """A trial's row, the offset of a record that names it, and its kind; in the order of the journal."""

    def __init__(self) -> None:
        self._rows, self._offsets, self._kinds = array("i"), array("q"), array("B")
        self._decisions = array("q")  # offsets
        self._by_trial: ByTrial | None = None

    def add(self, row: int, offset: int, kind: int = 0) -> None:
        """Append a mention."""
        self._rows.append(row)
        self._offsets.append(offset)
        self._kinds.append(kind)
        if kind & DECISION and self._decisions[-1:] != array("q", (offset,)):
            self._decisions.append(offset)

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]:
        """Return copies of all rows, offsets and kinds."""
        return (
            np.array(self._rows, np.int32), np.array(self._offsets, np.int64), np.array(self._kinds, np.uint8)
        )  # fmt: skip

    def since(self, count: int) -> tuple[NDArray[np.int32], int]:
        """Return the rows of the mentions after the first `count`, and how many mentions there are."""
        rows = np.array(self._rows[count:], np.int32)
        return rows[rows != ALL], len(self._rows)

    def restore(self, rows: NDArray[Any], offsets: NDArray[Any], kinds: NDArray[Any]) -> None:
        """Go on from the arrays of `arrays`, of integers of any size.

        Raises:
            ValueError: They have different lengths.
        """
        if not len(rows) == len(offsets) == len(kinds):
            raise ValueError(f"{len(rows)} rows, {len(offsets)} offsets, and {len(kinds)} kinds")
        self._rows = array("i", rows.astype(np.int32, copy=False).tobytes())
        self._offsets = array("q", offsets.astype(np.int64, copy=False).tobytes())
        self._kinds = array("B", kinds.astype(np.uint8, copy=False).tobytes())
        decisions = np.unique(offsets[(kinds & DECISION) > 0]).astype(np.int64)
        self._decisions = array("q", decisions.tobytes())

    def by_trial(self) -> ByTrial:
        """Return all mentions by trial."""
        if self._by_trial is None or len(self._by_trial.rows) != len(self._rows):
            rows, offsets, kinds = self.arrays()
            order = np.argsort(rows, kind="stable")
            self._by_trial = ByTrial(rows[order], offsets[order], kinds[order])
        return self._by_trial

    def decisions(self) -> NDArray[np.int64]:
        """Return the offsets of the records with a decision, oldest first."""
        return np.array(self._decisions, np.int64)

    def of(self, row: int) -> list[int]:
        """Return the offsets of the records that name a trial, oldest first."""
        rows, offsets, _ = self.by_trial()
        begin, end = np.searchsorted(rows, [row, row + 1])
        found: list[int] = offsets[begin:end].tolist()
        return found


def bodies(journal: Path, offsets: list[int]) -> Iterator[bytes]:
    """Yield the verified lines at these positions, in rising order.

    Raises:
        StorageError: The journal cannot be read, or has other lines by now.
    """
    with open_regular(journal, buffer_bytes=0) as file:
        for offset in offsets:
            file.seek(offset)
            line = file.read(_FEW_BYTES)
            while (end := line.find(b"\n")) < 0 and len(line) < LONGEST_LINE:
                if not (more := file.read(len(line))):
                    break
                line += more
            body = unsealed(line[:end]) if end >= 0 else None
            if body is None:
                raise StorageError(f"{journal} was changed after it was read: read it again")
            yield body


def curve(journal: Path, offsets: list[int], trial_id: str, metric: str) -> Curve:
    """Return the iterations and values of a trial's metric, oldest first; results without it are left out.

    Args:
        offsets: The positions of the records that name the trial.

    Raises:
        StorageError: The journal cannot be read, or has other lines by now.
    """
    ts, values, decode = [], [], Codec().decode
    for body in bodies(journal, offsets):
        if b'"e":"reported"' not in body[:40]:
            continue
        record = decode(body, True)
        if record is None or type(record.event) is not Reported or record.event.trial_id != trial_id:
            continue  # a record that another trial's report led to
        value: Any = None if is_redone(record) else lookup(record.event.metrics, metric)
        if is_number(value):
            ts.append(record.event.t)
            values.append(real(value))
    return np.array(ts, np.int64), np.array(values, np.float64)
