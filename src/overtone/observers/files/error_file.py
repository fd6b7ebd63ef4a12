"""`error.txt` in the folder of each trial that failed: what went wrong, each time that it did."""

from __future__ import annotations

from overtone.core.messages import Ended, Record
from overtone.core.protocols import Observer
from overtone.observers.files.trial_files import TrialFiles

ERROR_TXT = "error.txt"

_IS_FAILURE = frozenset({"raised", "killed", "limit", "lost"})


class ErrorFile(Observer):
    """Writes the user's traceback, complete, or the one line that there is.

    Args:
        files: Where it writes.
    """

    follows_results, is_projection = False, True

    def __init__(self, files: TrialFiles) -> None:
        self._files = files

    def on_record(self, record: Record) -> None:
        event = record.event
        if type(event) is Ended and (text := error_text(event)):
            self._files.add(event.trial_id, ERROR_TXT, text)
            self._files.settle()

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()


def error_text(event: Ended) -> str:
    """Return the contents of the file for this end; an empty text if it is not a failure."""
    text = event.traceback or event.error
    return text.rstrip("\n") + "\n" if text and event.cause in _IS_FAILURE else ""
