"""Handling of a run whose folder is moved or deleted while it runs."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from overtone.errors import StorageError
from overtone.standard_streams import say
from overtone.store.folder_mark import JOURNAL, FolderGoneError

if TYPE_CHECKING:
    from overtone.journal.writer import JournalWriter
    from overtone.run.storage.results_place import ResultsPlace


class FolderWatch:
    """Compares the open journal with its path once a second, in the thread that syncs the journal.

    A run whose folder was moved ends as at Ctrl-C: its journal follows to the moved folder, but
    the files of its trials would not. A run whose folder was deleted ends as well: its journal is copied
    from the open file to a place next to the folder.

    Args:
        place: Of the experiment.
        journal: Open until `settle` was called.
        end: Ends the run as Ctrl-C does; callable from any thread.

    Attributes:
        folder: The folder of the journal, as far as known.
    """

    def __init__(self, place: ResultsPlace, journal: JournalWriter, end: Callable[[], None]) -> None:
        self.folder = place.folder
        self._place = place
        self._journal = journal
        self._end = end
        self._file: os.stat_result | None = None
        self._is_told = False
        journal.watch(self._on_gone)

    def _on_gone(self, is_deleted: bool) -> None:
        self._look()
        became = f"{self._missing()} was deleted" if is_deleted else self._moved()
        say(f"{became} during the run: letting trials end, as at Ctrl-C")
        self._is_told = True
        self._end()

    def check(self) -> None:
        """Check that `folder` holds this run's journal.

        Raises:
            StorageError: It holds another one, or none.
        """
        if self._file is None:
            self._look()
        elif not _is_file(self.folder / JOURNAL, self._file):
            raise StorageError(
                f"{self.folder} does not hold the results of this run any more: it was moved or deleted "
                f"after the run's end. There are in {self.folder.parent}: {_names(self.folder.parent)}"
            )

    def settle(self, is_finished: bool = False) -> None:
        """Find the folder, now that nothing more is written, before the lock is given back.

        Args:
            is_finished: Whether nothing is left to go on with.

        Raises:
            FolderGoneError: It was deleted, and the message says where a copy of the journal lies; or it was
                moved, and cannot be found.
        """
        self._end = lambda: None  # The run is over and can be freed.
        self._look()
        place = self._place
        if self._journal.is_at_path or self._journal.found_at() is not None:
            if self.folder != place.folder:
                if not self._is_told:
                    say(f"{self._moved()} during the run")
                purpose = "to look: overtone show" if is_finished else "to go on with it: overtone resume"
                say(f"{purpose} {quote(str(self.folder))}")
            self._file = os.stat(self.folder / JOURNAL)
            return
        if not self._journal.is_deleted:
            raise FolderGoneError(
                f"{place.folder} was moved during the run, which ended; its journal is complete, wherever "
                "the folder is now. To go on with it: overtone resume FOLDER"
            )
        missing = self._missing()
        if place.url is not None:
            rest = f'{place.url} has it as well, with the checkpoints: resume="AUTO" goes on from there.'
        elif missing == place.folder:
            rest = "Checkpoints were deleted with the folder: a resume runs unfinished trials again."
        else:
            rest = f"Move it back, and `overtone resume {quote(str(place.folder))}` goes on with it."
        if missing == place.folder and missing.is_dir():
            rest += f" {missing} is there again, or was not deleted with all that is in it."
        self.folder = self._rescued()
        self._file = os.stat(self.folder / JOURNAL)
        raise FolderGoneError(
            f"{missing} was deleted during the run, which ended. Its journal was saved to "
            f"{self.folder / JOURNAL}. {rest} To look: overtone show {quote(str(self.folder))}"
        )

    def look(self) -> bool:
        """Follow the folder's move, if the system can tell where it went; return whether it is elsewhere."""
        self._look()
        return self.folder != self._place.folder

    def _look(self) -> None:
        if not self._journal.is_at_path:
            where = self._journal.found_at()
            if where is not None:
                self.folder = where.parent

    def _missing(self) -> Path:
        """Return the deleted path: the folder, or the journal in it."""
        folder, lock = self._place.folder, self._place.lock
        return folder / JOURNAL if lock is not None and lock.is_at_path else folder

    def _moved(self) -> str:
        to = f" to {self.folder}" if self.folder != self._place.folder else ""
        return f"{self._place.folder} was moved{to}"

    def _rescued(self) -> Path:
        """Copy the journal to a new folder next to the deleted one, or elsewhere, and return that folder.

        Raises:
            FolderGoneError: It cannot be written there either.
        """
        gone = self._place.folder
        name = f"{gone.name}.rescued.{time.strftime('%Y-%m-%d_%H-%M-%S')}-"
        for parent in (gone.parent, Path(tempfile.gettempdir())):
            try:
                folder = Path(tempfile.mkdtemp(prefix=name, dir=parent))
                self._journal.copy_to(folder / JOURNAL)
                return folder
            except OSError as failed:
                error = failed
        raise FolderGoneError(
            f"{gone} was deleted during the run, which ended, and its journal could not be saved: {error}"
        ) from error


def _is_file(path: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), file)
    except OSError:
        return False


def _names(folder: Path) -> str:
    try:
        return ", ".join(sorted(os.listdir(folder))[:8]) or "nothing"
    except OSError as error:
        return str(error.strerror)
