"""`progress.csv` in each trial's folder: a row for each result, with columns that may come later.

Nested keys are joined, as in "config/lr". A new key widens the file: the rows before it
get an empty cell, and nothing is dropped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import lru_cache, partial
from threading import Lock
from typing import Any, NamedTuple

from overtone.core.messages import Moved, Record, Reported, Started
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable, constant_facts
from overtone.observers.csv_text import RowsAlike, row_text
from overtone.observers.flatten import flatten
from overtone.observers.trial_files import TrialFiles

PROGRESS_CSV = "progress.csv"

_IS_FINAL = frozenset({"TERMINATED", "ERROR"})

_limiting = Lock()  # how long a cell may be is said for the whole process


class _Echo:
    """A file whose `write` returns the line that it was given, so that `writerow` does."""

    def write(self, text: str) -> str:
        return text[:-2]


# a cell with a character of it is quoted: before Python 3.13 no other line break is
_writer = csv.writer(_Echo(), lineterminator="\r\n")


class _Columns(NamedTuple):
    """The columns of a table, reported ones first; most trials of an experiment share them.

    Attributes:
        reported: Those whose cells may differ from row to row.
        constant: The others.
        known: All.
        header: The first line.
    """

    reported: tuple[str, ...]
    constant: tuple[str, ...]
    known: frozenset[str]
    header: str


@lru_cache(64)
def _columns(reported: tuple[str, ...], constant: tuple[str, ...]) -> _Columns:
    if "timesteps_total" not in reported:
        reported = (*reported, "timesteps_total")
    both = (*reported, *constant)
    return _Columns(reported, constant, frozenset(both), _writer.writerow(both))


class _Sheet:
    """One trial's columns, and the cells that are the same in each row.

    Attributes:
        columns: What it has.
        ending: The constant cells, with a comma before them.
        config: What `ending` was made of.
    """

    __slots__ = ("columns", "config", "ending", "rows")

    def __init__(self, columns: _Columns, ending: str, config: Any) -> None:
        self.columns = columns
        self.rows = RowsAlike(columns.reported)
        self.ending = ending
        self.config = config


class CsvRows(Observer):
    """Writes each result as a row.

    Args:
        files: Where it writes.
        table: Shared with other observers, or its own.
    """

    def __init__(self, files: TrialFiles, table: TrialTable | None = None) -> None:
        self._files = files
        self._table = table if table is not None else TrialTable("live")
        self._sheets: dict[str, _Sheet] = {}

    def on_record(self, record: Record) -> None:
        row = self._table.apply(record)
        event = record.event
        if row is not None:
            assert type(event) is Reported
            metrics = event.metrics
            # one brace opens the object: a second one is in a nested value, or in a text
            if event.raw.count("{") != 1:
                metrics = flatten(metrics)
            sheet = self._sheets.get(row.id)
            if sheet is None or sheet.config is not row.config or not metrics.keys() <= sheet.columns.known:
                sheet = self._fit(row, sheet, metrics)
            cells = sheet.rows.text(event.raw, metrics)
            self._files.add(row.id, PROGRESS_CSV, f"{cells}{sheet.ending}\n")
        elif type(event) is Started and event.trial_id in self._sheets:
            self._sheets[event.trial_id].config = None  # another process: other constant facts
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._files.settle()
                self._sheets.pop(choice.trial_id, None)

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()

    def _fit(self, row: Row, sheet: _Sheet | None, metrics: Mapping[str, Any]) -> _Sheet:
        """The trial's sheet, with a column for everything in `metrics`; its file is widened."""
        constant = flatten({**constant_facts(row), "config": row.config})
        if sheet is not None:
            before = [*sheet.columns.reported, *sheet.columns.constant]
        elif row.n_results > 1:  # a trial that ended, and was tried again, has a file already
            before = next(csv.reader(io.StringIO(self._files.read(row.id, PROGRESS_CSV))), [])
        else:
            before = []
        new = [name for name in metrics if name not in constant and name not in before]
        kept = [name for name in before if name not in constant]
        columns = _columns((*kept, *new), tuple(constant))
        if not before:
            self._files.add(row.id, PROGRESS_CSV, f"{columns.header}\n")
        elif [*columns.reported, *columns.constant] != before:
            self._files.change(row.id, PROGRESS_CSV, partial(_widened, columns=columns))
        ending = f",{row_text(constant.values())}"
        sheet = self._sheets[row.id] = _Sheet(columns, ending, row.config)
        return sheet


def _widened(text: str, columns: _Columns) -> str:
    """The table in `text` with these columns; where it has no value, the cell is empty."""
    names = (*columns.reported, *columns.constant)
    with _limiting:
        limit = csv.field_size_limit()
        csv.field_size_limit(max(limit, len(text) + 1))  # a cell may hold a text of any length
        try:
            rows = csv.DictReader(io.StringIO(text, newline=""))
            lines = [columns.header, *[_writer.writerow([row.get(name) for name in names]) for row in rows]]
        finally:
            csv.field_size_limit(limit)
    return "".join(f"{line}\n" for line in lines)
