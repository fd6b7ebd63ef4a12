"""`progress.csv` in each trial's folder: a row for each result, with columns that may come later.

Nested keys are joined, as in "config/lr". A new key widens the file: the rows before it
get an empty cell, and nothing is dropped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from overtone.core.messages import Moved, Record, Reported, Started
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable, constant_facts
from overtone.observers.flatten import flatten
from overtone.observers.trial_files import TrialFiles

PROGRESS_CSV = "progress.csv"

_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


class _Echo:
    """A file whose `write` returns what it was given, so that `writerow` does."""

    def write(self, text: str) -> str:
        return text


_writer = csv.writer(_Echo(), lineterminator="")


class _Sheet:
    """One trial's columns, reported ones first, and the cells that are the same in each row.

    Attributes:
        columns: The reported ones.
        known: All.
        ending: The constant cells, with a comma before them.
        names: Of the constant cells.
        config: What `ending` was made of.
    """

    __slots__ = ("columns", "config", "ending", "known", "names")

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.known: frozenset[str] = frozenset()
        self.ending = ""
        self.names: list[str] = []
        self.config: Any = None


class CsvRows(Observer):
    """Writes each result as a row.

    Args:
        files: Those named `PROGRESS_CSV`.
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
            if sheet is None or sheet.config is not row.config or not metrics.keys() <= sheet.known:
                sheet = self._fit(row, sheet, metrics)
            cells = _writer.writerow(map(metrics.get, sheet.columns))
            self._files.add(row.id, f"{cells}{sheet.ending}\n")
        elif type(event) is Started and event.trial_id in self._sheets:
            self._sheets[event.trial_id].config = None  # another process: other constant facts
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._files.finish(choice.trial_id)
                self._sheets.pop(choice.trial_id, None)

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()

    def _fit(self, row: Row, sheet: _Sheet | None, metrics: Mapping[str, Any]) -> _Sheet:
        """The trial's sheet, with a column for everything in `metrics`; its file is widened."""
        constant = flatten({**constant_facts(row), "config": row.config})
        if sheet is None:
            sheet = self._sheets[row.id] = _Sheet()
            # a trial that ended, and was tried again, has a file already
            before = next(csv.reader(io.StringIO(self._files.read(row.id))), []) if row.n_results > 1 else []
        else:
            before = [*sheet.columns, *sheet.names]
        columns = [name for name in before if name not in constant]
        columns += [name for name in metrics if name not in constant and name not in columns]
        if "timesteps_total" not in columns:
            columns.append("timesteps_total")
        sheet.columns, sheet.names = columns, list(constant)
        sheet.known = frozenset(columns) | frozenset(constant)
        sheet.config = row.config
        sheet.ending = f",{_writer.writerow(constant.values())}"
        after = [*columns, *constant]
        if not before:
            self._files.add(row.id, f"{_writer.writerow(after)}\n")
        elif after != before:
            self._files.replace(row.id, _widened(self._files.read(row.id), after))
        return sheet


def _widened(text: str, columns: list[str]) -> str:
    """The table in `text` with these columns; where it has no value, the cell is empty."""
    limit = csv.field_size_limit(len(text) + 1)  # a cell may hold a text of any length
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""))
        lines = [_writer.writerow(columns)]
        lines += [_writer.writerow([row.get(name) for name in columns]) for row in rows]
    finally:
        csv.field_size_limit(limit)
    return "".join(f"{line}\n" for line in lines)
