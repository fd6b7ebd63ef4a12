"""Repair of the text files of selected trials, from their records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from overtone.core.messages import Record, Reported
from overtone.core.table import TrialTable
from overtone.observers.file_output import NEW
from overtone.observers.files.own_files import ERROR_TXT, PARAMS_JSON, PROGRESS_CSV, RESULT_JSON
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.repair.file_audit import Due, remove
from overtone.regular_files import read_regular

if TYPE_CHECKING:
    from typing_extensions import Self


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
        self._files = TextFiles(TrialFiles(folder, NEW), self._table)

    def __enter__(self) -> Self:
        self._remove_new()
        return self

    def on_record(self, record: Record) -> None:
        """Take a record that is about trials that are due alone."""
        self._table.apply(record)
        event = record.event
        if type(event) is not Reported or event.trial_id in self._due.rows:
            self._files.on_record(record)
            self._files.flush()

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self._files.close()
            if kind is None:
                self._take_places()
        finally:
            self._remove_new()

    def _take_places(self) -> None:
        """Let each file that is due hold what was written; where that is nothing, let it not be there."""
        for trial, name, path in self._paths():
            if (trial, name) in self._due.foreign:
                continue
            if not os.path.lexists(path + NEW):
                remove(self._folder, trial, (name,))
            elif not _are_same(path, path + NEW):
                os.replace(path + NEW, path)

    def _remove_new(self) -> None:
        for _, _, path in self._paths():
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path + NEW)

    def _paths(self) -> Iterator[tuple[str, str, str]]:
        for trial in self._due.trials:
            rows = (RESULT_JSON, PROGRESS_CSV) if trial in self._due.rows else ()
            for name in (*rows, PARAMS_JSON, ERROR_TXT):
                yield trial, name, f"{self._folder}{os.sep}{trial}{os.sep}{name}"


def _are_same(path: str, other: str) -> bool:
    try:
        return os.lstat(path).st_size == os.lstat(other).st_size and (
            read_regular(path, follow_links=False) == read_regular(other)
        )
    except OSError:  # missing or unreadable: written again
        return False
