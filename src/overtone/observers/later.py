"""Whole files, written by a thread: the loop does not wait for the disk."""

from __future__ import annotations

import threading
from queue import SimpleQueue

from overtone.errors import StorageError
from overtone.observers.trial_files import write_file

MOST_WAITING = 1000
"""Files that may wait; beyond, `write` does."""


class Later:
    """Writes files in the order in which they come; the thread lives from the first one to `wait`."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[str, str, bool] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._error: StorageError | None = None

    def write(self, path: str, text: str, append: bool = False) -> None:
        """Have a file written, or text added to its end.

        Raises:
            StorageError: One before could not be written; no others are from then on.
        """
        if self._thread is not None and self._waiting.qsize() > MOST_WAITING:
            self.wait()
        if self._error is not None:
            raise self._error
        self._waiting.put((path, text, append))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="overtone-files", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Return when all is written. Twice is safe.

        Raises:
            StorageError: Something could not be written.
        """
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while (one := self._waiting.get()) is not None:
            try:
                if self._error is None:
                    write_file(*one)
            except StorageError as error:
                self._error = error
