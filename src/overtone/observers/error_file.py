"""`error.txt` in the folder of each trial that failed: what went wrong, each time that it did."""

from __future__ import annotations

import os

from overtone.core.messages import Ended, Record
from overtone.core.protocols import Observer
from overtone.observers.trial_files import write_file

ERROR_TXT = "error.txt"

_IS_FAILURE = frozenset({"raised", "killed", "limit", "lost"})


class ErrorFile(Observer):
    """Writes the user's traceback, complete, or the one line that there is.

    Args:
        folder: The experiment's.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(folder)

    def on_record(self, record: Record) -> None:
        event = record.event
        if type(event) is Ended and (text := error_text(event)):
            path = f"{self._folder}{os.sep}{event.trial_id}{os.sep}{ERROR_TXT}"
            write_file(path, text, append=True)


def error_text(event: Ended) -> str:
    """What the file says of this end; nothing where it was no failure."""
    text = event.traceback or event.error
    return text.rstrip("\n") + "\n" if text and event.cause in _IS_FAILURE else ""
