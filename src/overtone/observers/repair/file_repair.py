"""Repair of the text files of selected trials, from their records."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from overtone.core.messages import Ended, Record, Reported, Started
from overtone.core.table import TrialTable
from overtone.observers.file_output import NEW, swap_file
from overtone.observers.files.constant_text import ConstantTexts, params_text
from overtone.observers.files.csv_rows import CsvRows
from overtone.observers.files.own_files import ERROR_TXT, PARAMS_JSON, PROGRESS_CSV, RESULT_JSON
from overtone.observers.files.text_files import JsonLines, error_text
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.repair.file_audit import Due, remove
from overtone.regular_files import read_regular

if TYPE_CHECKING:
    from typing_extensions import Self

_ROWS = (RESULT_JSON, PROGRESS_CSV)


class Mending:
    """A context that takes the records of the trials that are due, and leaves their files as they should be.

    New files are written beside the old ones, and take their places at the end.

    Args:
        folder: The experiment's.
        due: What is to be written.
    """

    def __init__(self, folder: str, due: Due) -> None:
        self._folder = folder
        self._due = due
        self._table = TrialTable("live")
        self._params: dict[str, str] = {}
        self._errors: dict[str, str] = {}
        self._written: set[str] = set()
        self._files, texts = TrialFiles(folder, NEW), ConstantTexts()
        self._json, self._csv = JsonLines(self._files, texts), CsvRows(self._files, texts)

    def __enter__(self) -> Self:
        self._remove_new()
        return self

    def on_record(self, record: Record) -> None:
        """Take a record that is about trials that are due alone."""
        row = self._table.apply(record)
        event: Any = record.event
        trial = getattr(event, "trial_id", None)
        if type(event) is Started:
            self._params[event.trial_id] = params_text(self._table.rows[event.trial_id].config)
        elif type(event) is Ended:
            self._errors[event.trial_id] = self._errors.get(event.trial_id, "") + error_text(event)
        elif type(event) is Reported and row is not None and trial in self._due.rows:
            self._written.add(row.id)
            self._json.add(row, event.raw, event.metrics)
            self._csv.add(row, event.raw, event.metrics)
            self._csv.widen_due()
            self._files.flush()

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self._csv.widen_all()
            self._files.close()
            if kind is None:
                self._take_places()
        finally:
            self._remove_new()

    def _take_places(self) -> None:
        for trial in self._due.rows:
            for name in _ROWS:
                if (trial, name) in self._due.foreign:
                    continue
                if trial in self._written:
                    os.replace(self._path(trial, name + NEW), self._path(trial, name))
                else:
                    remove(self._folder, trial, (name,))
        for trial in self._due.trials:
            self._put(trial, PARAMS_JSON, self._params.get(trial, ""))
            self._put(trial, ERROR_TXT, self._errors.get(trial, ""))

    def _remove_new(self) -> None:
        for trial in self._due.rows:
            for name in _ROWS:
                with suppress(FileNotFoundError, NotADirectoryError):
                    os.unlink(self._path(trial, name + NEW))

    def _put(self, trial: str, name: str, text: str) -> None:
        """Let a file hold `text`; where that is nothing, let it not be there. A trial's own file stays."""
        if (trial, name) in self._due.foreign:
            return
        path = self._path(trial, name)
        if not text:
            remove(self._folder, trial, (name,))
            return
        try:
            if read_regular(path, follow_links=False) == text.encode("utf-8", "backslashreplace"):
                return
        except OSError:  # missing or unreadable: written again
            pass
        swap_file(path, text)

    def _path(self, trial: str, name: str) -> str:
        return f"{self._folder}{os.sep}{trial}{os.sep}{name}"
