"""The text files in trials' folders: params.json, result.json, progress.csv and error.txt."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from overtone.core.messages import Ended, Moved, Record, Reported, Started
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable
from overtone.observers.files.constant_text import ConstantTexts
from overtone.observers.files.csv_rows import CsvRows
from overtone.observers.files.json_lines import JsonLines
from overtone.observers.files.own_files import ERROR_TXT, PARAMS_JSON
from overtone.observers.files.trial_files import TrialFiles

_IS_FAILURE = frozenset({"raised", "killed", "limit", "lost"})
_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


class TextFiles(Observer):
    """Writes results, the config whenever a trial's process starts, and what went wrong each time it did.

    Args:
        files: Where it writes.
        table: Has each record before this observer gets it.
        clock: Seconds from some moment on; for how long rows wait.
    """

    is_projection = True

    def __init__(
        self, files: TrialFiles, table: TrialTable, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = files
        self._table = table
        self._texts = ConstantTexts()
        self._json = JsonLines(files, self._texts)
        self._csv = CsvRows(files, self._texts, clock)

    def on_record(self, record: Record) -> None:
        event = record.event
        if type(event) is Reported:
            row = self._table.shown
            if row is not None:
                self._json.add(row, event.raw, event.metrics)
                self._csv.add(row, event.raw, event.metrics)
        elif type(event) is Started:
            row = self._table.rows[event.trial_id]
            self._files.put(row.id, PARAMS_JSON, self._texts.of(row).params)
            self._files.settle()
        elif type(event) is Ended and (text := error_text(event)):
            self._files.add(event.trial_id, ERROR_TXT, text)
            self._files.settle()
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._csv.end(choice.trial_id)
                self._files.settle()
                self._texts.forget(choice.trial_id)

    def on_results(self, row: Row, raws: Sequence[str]) -> None:
        """Write results of a trial without choices, each as JSON text without line breaks."""
        self._json.add_all(row, raws)
        self._csv.add_all(row, raws)

    def flush(self) -> None:
        self._csv.widen_due()
        self._files.flush()

    def close(self) -> None:
        """Write what waits.

        Raises:
            StorageError: It cannot be written, or a file is shorter than it was after the last write.
        """
        self._csv.widen_all()
        self._files.check()


def error_text(event: Ended) -> str:
    """Return the text for error.txt about this end: the traceback, or one line; "" if it is no failure."""
    text = event.traceback or event.error
    return text.rstrip("\n") + "\n" if text and event.cause in _IS_FAILURE else ""
