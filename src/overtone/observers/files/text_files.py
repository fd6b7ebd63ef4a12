"""The text files in trials' folders: params.json, result.json, progress.csv and error.txt.

result.json has a JSON object a line, the full result. NaN and the infinities are the literals NaN and
Infinity, which `json.loads` takes; times, UUIDs and paths are texts, and decimals numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from typing import Any

from overtone.core.messages import Ended, Moved, Record, Reported, Started
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable
from overtone.core.types import Metrics
from overtone.journal.text import loads
from overtone.observers.files.constant_text import ConstantTexts
from overtone.observers.files.csv_rows import CsvRows
from overtone.observers.files.own_files import ERROR_TXT, PARAMS_JSON, PROGRESS_CSV, RESULT_JSON
from overtone.observers.files.readable_json import encode
from overtone.observers.files.trial_files import TrialFiles
from overtone.tagged_json import MARK

_IS_FAILURE = frozenset({"raised", "killed", "limit", "lost"})
_FAILED = "ERROR"
_IS_FINAL = frozenset({"TERMINATED", _FAILED})


def _is_usual(raw: str) -> bool:
    return '"timesteps_total":' in raw and MARK not in raw


def _usual(raw: str) -> str:
    """Return a result as it is written: with NaN as NaN, and with a number of timesteps."""
    if MARK in raw:
        raw = encode(loads(raw))
    if '"timesteps_total":' in raw:
        return raw
    return f'{raw[:-1]}{"," if len(raw) > 2 else ""}"timesteps_total":null}}'


class JsonLines:
    """Writes each result as its worker encoded it, with the trial's constant facts at the end.

    Args:
        files: Where it writes.
        texts: The constant texts of trials.
    """

    def __init__(self, files: TrialFiles, texts: ConstantTexts) -> None:
        self._files = files
        self._texts = texts

    def add(self, row: Row, raw: str, metrics: Metrics) -> None:
        """Write a result; `raw` is its JSON text, if there is one."""
        self.add_all(row, [raw if raw and "\n" not in raw else encode(dict(metrics))])

    def add_all(self, row: Row, raws: Sequence[str]) -> None:
        """Write results of a trial, each as JSON text without line breaks."""
        if not all(map(_is_usual, raws)):
            raws = [raw if _is_usual(raw) else _usual(raw) for raw in raws]
        lines = "\n".join(raws)
        self._files.add(row.id, RESULT_JSON, f"{lines}\n".replace("}\n", self._texts.of(row).ending))


class TextFiles(Observer):
    """Writes results, the config whenever a trial's process starts, and what went wrong each time it did.

    Args:
        files: Where it writes.
        table: Has each record before this observer gets it.
        clock: Seconds from some moment on; for how long rows wait.
        without: Names of files that callbacks write instead.
    """

    is_projection = True

    def __init__(
        self,
        files: TrialFiles,
        table: TrialTable,
        clock: Callable[[], float] = time.monotonic,
        without: Container[str] = (),
    ) -> None:
        self._files = files
        self._table = table
        self._texts = ConstantTexts()
        self._json = JsonLines(files, self._texts)
        self._csv = CsvRows(files, self._texts, clock)
        self._has_params = PARAMS_JSON not in without
        self._has_json, self._has_csv = RESULT_JSON not in without, PROGRESS_CSV not in without

    def on_record(self, record: Record) -> None:
        event = record.event
        if type(event) is Reported:
            row = self._table.shown
            if row is not None:
                if self._has_json:
                    self._json.add(row, event.raw, event.metrics)
                if self._has_csv:
                    self._csv.add(row, event.raw, event.metrics)
        elif type(event) is Started:
            row = self._table.rows[event.trial_id]
            if self._has_params:
                self._files.put(row.id, PARAMS_JSON, self._texts.of(row).params)
            self._files.settle()
        elif type(event) is Ended and (text := error_text(record)):
            self._files.add(event.trial_id, ERROR_TXT, text)
            self._files.settle()
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._csv.end(choice.trial_id)
                self._files.settle()
                self._texts.forget(choice.trial_id)

    def on_results(self, row: Row, raws: Sequence[str]) -> None:
        """Write results of a trial without choices, each as JSON text without line breaks."""
        if self._has_json:
            self._json.add_all(row, raws)
        if self._has_csv:
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


def error_text(record: Record) -> str:
    """Return the text for error.txt about this end: the traceback, or one line; "" if it is no failure."""
    event: Any = record.event
    text = event.traceback or event.error
    is_failure = event.cause in _IS_FAILURE or any(
        type(one) is Moved and one.status == _FAILED for one in record.choices
    )
    return text.rstrip("\n") + "\n" if text and is_failure else ""
