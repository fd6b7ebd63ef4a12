"""Whole files, written by a thread."""

from __future__ import annotations

from overtone.observers.aside import Aside
from overtone.observers.trial_files import write_file

MOST_WAITING = 1000
"""Files that may wait."""


class Later:
    """Writes files in the order in which they come."""

    def __init__(self) -> None:
        self._aside = Aside(_write, "overtone-files", MOST_WAITING)

    def write(self, path: str, text: str, append: bool = False) -> None:
        """Have a file written, or text added to its end.

        Raises:
            StorageError: One before could not be written; no others are from then on.
        """
        self._aside.put(((path, text, append),))

    def wait(self) -> None:
        """Return when all is written. Twice is safe.

        Raises:
            StorageError: Something could not be written.
        """
        self._aside.wait()


def _write(batch: list[tuple[str, str, bool]]) -> None:
    for one in batch:
        write_file(*one)
