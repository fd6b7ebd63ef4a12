"""Detection of a run's folder, as opposed to another folder created at its path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.errors import StorageError

if TYPE_CHECKING:
    from overtone.core.job import Job

JOURNAL = "journal.jsonl"
LOCK = f"{JOURNAL}.lock"


class FolderGoneError(StorageError):
    """An experiment's folder was moved or deleted during the run."""


@dataclass(frozen=True, slots=True)
class FolderMark:
    """The lock file of an experiment's folder. The driver keeps it open, so its inode is not reused.

    Attributes:
        folder: The experiment's folder. It exists when the run begins, and is not created again.
        inode: The inode number of its lock file; 0 if the number is not compared.
        is_private: Whether the folder belongs to one process alone, which creates it if missing.
    """

    folder: str
    inode: int = 0
    is_private: bool = False

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> FolderMark:
        """Return the mark of the folder that is at a path now."""
        try:
            return cls(os.fspath(folder), os.stat(os.path.join(folder, LOCK)).st_ino)
        except OSError:
            return cls(os.fspath(folder))

    @property
    def is_there(self) -> bool:
        """Whether the path still leads to the run's folder."""
        if self.is_private:
            return True
        try:
            if not self.inode:
                return os.path.isdir(self.folder)
            return os.stat(os.path.join(self.folder, LOCK)).st_ino == self.inode
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # such an error says nothing about the folder
            return True

    def check(self) -> None:
        """Check that the path still leads to the run's folder.

        Raises:
            FolderGoneError: The folder was moved or deleted.
        """
        if not self.is_there:
            raise FolderGoneError(
                f"{self.folder} was moved or deleted while a run wrote to it: nothing more is written there"
            )

    def make(self, *names: str) -> Path:
        """Create the nested folders `names`; the run's folder itself is not created again.

        Each step needs the folder above, so a folder that is deleted at the same moment stays deleted.

        Returns:
            The last folder.

        Raises:
            FolderGoneError: The run's folder was moved or deleted.
        """
        path = Path(self.folder)
        if self.is_private:
            path.mkdir(parents=True, exist_ok=True)
        self.check()
        for name in names:
            path /= name
            try:
                path.mkdir(exist_ok=True)
            except (FileNotFoundError, FileExistsError):  # the latter if it was moved just now
                self.check()
                raise
        return path


def mark_of(job: Job) -> FolderMark:
    """Return the mark of a job's folder; a folder without a mark belongs to this process alone."""
    mark: FolderMark | None = job.mark
    return mark if mark is not None else FolderMark(str(job.folder), is_private=True)
