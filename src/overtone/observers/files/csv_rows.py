"""`progress.csv` in each trial's folder: a row for each result, with columns that may come later.

Nested keys are joined, as in "config/lr". A new key widens the file: the rows before it get an
empty cell, and nothing is dropped. A wider file is a new file, which takes the place of the old
one: its header fits its rows whenever somebody looks. A table may gain a column with each result,
so rows of a wider table wait until they are worth a new file, or until they have waited long enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from overtone.core.table import Row
from overtone.core.types import Metrics
from overtone.journal.text import LazyMetrics
from overtone.observers.files.constant_text import ConstantText, ConstantTexts
from overtone.observers.files.csv_table import Columns, Sheet, columns, names_of, rearranged, sheet_of
from overtone.observers.files.own_files import PROGRESS_CSV
from overtone.observers.files.trial_files import TrialFiles
from overtone.space import flatten

SHARE = 8
"""A file is widened when SHARE times the number of waiting rows reaches its number of rows."""

LEAST_WAIT_S = 0.5
MOST_WAIT_S = 60.0
"""Maximum seconds that rows of a wider table wait, apart from `WAIT_PER_CELL_S`."""

WAIT_PER_CELL_S = 1e-5
"""Additional seconds of waiting per cell of the file: copying a cell takes some nanoseconds."""

MOST_CELLS = 1 << 20
"""Cells that may wait, in all trials together."""


class CsvRows:
    """Writes each result as a row.

    Args:
        files: Where it writes.
        texts: The constant texts of trials.
        clock: Seconds from some moment on; for how long rows wait.
    """

    def __init__(
        self, files: TrialFiles, texts: ConstantTexts, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = files
        self._texts = texts
        self._clock = clock
        self._newest: Columns | None = None  # most trials have the columns of the trial before
        self._sheets: dict[str, Sheet] = {}
        self._waiting: dict[str, Sheet] = {}
        self._n_cells = 0
        self._look_at = 0.0

    def add(self, row: Row, raw: str, metrics: Metrics) -> None:
        """Write a result; `raw` is its JSON text, if there is one."""
        sheet, constant = self._sheets.get(row.id), self._texts.of(row)
        is_usual = sheet is not None and sheet.constant is constant and not sheet.late
        cells = sheet.rows.cut(raw) if is_usual and sheet is not None else None
        if cells is not None:
            self._files.add(row.id, PROGRESS_CSV, f"{cells}{constant.cells}\n")
        elif sheet is not None or not self._begin_alike(row, constant, raw):
            self._add_row(row, sheet, constant, raw, metrics)

    def add_all(self, row: Row, raws: Sequence[str]) -> None:
        """Write results of a trial, each as JSON text."""
        sheet, constant = self._sheets.get(row.id), self._texts.of(row)
        is_usual = sheet is not None and sheet.constant is constant and not sheet.late
        lines = sheet.rows.cut_all(raws, constant.cells) if is_usual and sheet is not None else None
        if lines is not None:  # the names are those of the sheet, too
            self._files.add(row.id, PROGRESS_CSV, lines)
            return
        for raw in raws:
            self.add(row, raw, LazyMetrics(raw.encode()))

    def end(self, trial_id: str) -> None:
        """Write the rows of a trial that has ended, and forget its table."""
        self._widen(trial_id)
        self._sheets.pop(trial_id, None)

    def widen_due(self) -> None:
        """Write the rows that have waited for a wider table long enough."""
        if self._waiting and (now := self._clock()) >= self._look_at:
            for trial_id in [one for one, sheet in self._waiting.items() if now >= sheet.due_at]:
                self._widen(trial_id)
            self._look_at = now + LEAST_WAIT_S

    def widen_all(self) -> None:
        """Write all rows that wait for a wider table."""
        for trial_id in list(self._waiting):
            self._widen(trial_id)

    def _begin_alike(self, row: Row, constant: ConstantText, raw: str) -> bool:
        """Write the first result of a trial, if it has the columns of the newest table."""
        newest = self._newest
        if newest is None or row.n_results > 1 or newest.constant != constant.names:
            return False
        sheet = Sheet(newest, constant)
        cells = sheet.rows.cut(raw)
        if cells is None:
            return False
        self._sheets[row.id] = sheet
        self._files.add(row.id, PROGRESS_CSV, f"{newest.header}\n{cells}{constant.cells}\n")
        return True

    def _add_row(
        self, row: Row, sheet: Sheet | None, constant: ConstantText, raw: str, metrics: Metrics
    ) -> None:
        """Write a result that may not have the columns of the trial's sheet."""
        # one brace opens the object: a second one is in a nested value, or in a text
        if raw.count("{") != 1:
            metrics = flatten(metrics)
        if sheet is None or sheet.constant is not constant or not metrics.keys() <= sheet.known:
            sheet = self._fit(row, sheet, constant, metrics)
        line = f"{sheet.rows.text(raw, metrics)}{constant.cells}"
        if not sheet.late:
            self._files.add(row.id, PROGRESS_CSV, f"{line}\n")
        else:
            self._add_wide(row, sheet, f"{line}{sheet.late_cells(metrics)}")

    def _fit(
        self, row: Row, sheet: Sheet | None, constant: ConstantText, metrics: Mapping[str, Any]
    ) -> Sheet:
        """Return the trial's sheet, with a column for everything in `metrics`."""
        if sheet is None or constant.names != sheet.columns.constant:
            sheet = self._sheets[row.id] = self._begun(row, sheet, constant, metrics)
        sheet.constant = constant
        new = [name for name in metrics if name not in sheet.known]
        if new:
            sheet.add(new)
        return sheet

    def _begun(
        self, row: Row, sheet: Sheet | None, constant: ConstantText, metrics: Mapping[str, Any]
    ) -> Sheet:
        """Return a sheet with these constant columns; the file's other columns are kept."""
        if sheet is not None:
            self._widen(row.id)
            before = sheet.names
        elif row.n_results > 1:  # a trial that ended, and was tried again, has a file already
            before = names_of(self._files.read(row.id, PROGRESS_CSV))
            found = sheet_of(before, constant)
            if found is not None:
                return found
        else:
            before = []
        known = {*constant.names, *before}
        first = [name for name in before if name not in constant.names]
        first += [name for name in metrics if name not in known]
        made = Sheet(columns(tuple(first), constant.names), constant)
        if not before:
            self._newest = made.columns
            self._files.add(row.id, PROGRESS_CSV, f"{made.header}\n")
        else:
            change = partial(rearranged, names=made.names, header=made.header)
            self._files.change(row.id, PROGRESS_CSV, change)
        return made

    # --- rows that wait for a wider file -------------------------------------------------

    def _add_wide(self, row: Row, sheet: Sheet, line: str) -> None:
        """Write a row with late cells; if its file has not all of its columns, it waits."""
        if len(sheet.late) == sheet.n_written:
            self._files.add(row.id, PROGRESS_CSV, f"{line}\n")
            return
        n_cells = len(sheet.known)
        if not sheet.waiting:
            sheet.n_rows = row.n_results - 1
            wait_s = min(MOST_WAIT_S, LEAST_WAIT_S + sheet.n_rows * n_cells * WAIT_PER_CELL_S)
            sheet.due_at = self._clock() + wait_s
            self._waiting[row.id] = sheet
        sheet.waiting.append((len(sheet.late), line))
        sheet.n_cells += n_cells
        self._n_cells += n_cells
        if len(sheet.waiting) * SHARE >= sheet.n_rows:
            self._widen(row.id)
        elif self._n_cells >= MOST_CELLS:
            self.widen_all()

    def _widen(self, trial_id: str) -> None:
        """Have the trial's file get its new columns and the rows that wait for them."""
        sheet = self._waiting.pop(trial_id, None)
        if sheet is not None:
            self._n_cells -= sheet.n_cells
            self._files.change(trial_id, PROGRESS_CSV, sheet.widening())
