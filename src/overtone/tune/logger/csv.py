"""`progress.csv` of a trial, written by a logger that may be subclassed."""

from __future__ import annotations

import os
from typing import Any, TextIO

from overtone.observers.file_output import swap_file
from overtone.observers.files.csv_table import names_of, rearranged
from overtone.observers.files.csv_text import row_text
from overtone.observers.files.own_files import PROGRESS_CSV
from overtone.space import flatten
from overtone.tune.logger.logger import FileLoggerCallback, Logger

__all__ = ["CSVLogger", "CSVLoggerCallback"]


class CSVLogger(Logger):
    """Logger that writes each result as a row of `progress.csv`, with nested keys such as "a/b".

    A result with a new key adds a column, for which the file is written anew.
    """

    written_files = (PROGRESS_CSV,)

    def _init(self) -> None:
        self._path = os.path.join(self.logdir, PROGRESS_CSV)
        self._file = self._opened()
        with open(self._path, encoding="utf-8", newline="") as file:
            self._names = names_of(file.readline())

    def on_result(self, result: dict[str, Any]) -> None:
        """Write a result without its config."""
        cells = flatten({name: value for name, value in result.items() if name != "config"})
        new = [name for name in cells if name not in self._names]
        if new:
            self._add_columns(new)
        self._file.write(f"{row_text(map(cells.get, self._names))}\n")
        self._file.flush()

    def flush(self) -> None:
        """Write buffered rows."""
        self._file.flush()

    def close(self) -> None:
        """Close `progress.csv`."""
        self._file.close()

    def _add_columns(self, new: list[str]) -> None:
        self._names += new
        header = row_text(self._names)
        self._file.close()
        with open(self._path, encoding="utf-8", newline="") as file:
            text = file.read()
        swap_file(self._path, rearranged(text, self._names, header))
        self._file = self._opened()

    def _opened(self) -> TextIO:
        return open(self._path, "a", encoding="utf-8", newline="")


class CSVLoggerCallback(FileLoggerCallback):
    """Callback that writes each trial's `progress.csv`.

    Every run writes this file without it. If a run has a subclass of it, the subclass writes it.
    """

    logger_class = CSVLogger
