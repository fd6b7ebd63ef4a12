"""Tells a run's folder from another folder that was made at its path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.errors import StorageError

if TYPE_CHECKING:
    from overtone.core.job import Job

LOCK = "journal.jsonl.lock"


class FolderGoneError(StorageError):
    """An experiment's folder was moved or deleted during the run."""


@dataclass(frozen=True, slots=True)
class FolderMark:
    """The lock file of an experiment's folder, which its driver keeps open: no other file gets its number.

    Attributes:
        folder: The experiment's. It is there when the run begins, and is not made again.
        inode: The number of its lock file; 0 if the number is not compared.
        is_private: Whether the folder belongs to one process alone, which makes it when it is missing.
    """

    folder: str
    inode: int = 0
    is_private: bool = False

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> FolderMark:
        """The mark of what is at a path now."""
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
        except OSError:  # which says nothing about the folder
            return True

    def check(self) -> None:
        """Return if the path still leads to the run's folder.

        Raises:
            FolderGoneError: The folder was moved or deleted.
        """
        if not self.is_there:
            raise FolderGoneError(
                f"{self.folder} was moved or deleted while a run wrote to it: nothing more is written there"
            )

    def make(self, *names: str) -> Path:
        """Make the folders `names`, each inside the one before; the run's folder itself is not made again.

        Each step needs the folder above, so that one that is deleted at the same moment stays deleted.

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
            except FileNotFoundError:
                self.check()
                raise
        return path


def mark_of(job: Job) -> FolderMark:
    """The mark of a job's folder; a folder without one is the process's own."""
    mark: FolderMark | None = job.mark
    return mark if mark is not None else FolderMark(str(job.folder), is_private=True)

