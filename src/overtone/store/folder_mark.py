"""Tells a run's folder from another folder that was made at its path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from overtone.errors import StorageError

LOCK = "journal.jsonl.lock"


class FolderGoneError(StorageError):
    """An experiment's folder was moved or deleted during the run."""


@dataclass(frozen=True, slots=True)
class FolderMark:
    """The lock file of an experiment's folder, which its driver keeps open: no other file gets its number.

    Attributes:
        folder: The experiment's.
        inode: The number of its lock file; 0 for a folder that is never checked.
    """

    folder: str
    inode: int = 0

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
        if not self.inode:
            return True
        try:
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

    def make(self, name: str) -> Path:
        """The folder `name` right below, which is made if it is missing; the run's folder itself is not.

        Raises:
            FolderGoneError: The run's folder was moved or deleted.
        """
        self.check()
        path = Path(self.folder, name)
        try:
            path.mkdir(parents=not self.inode, exist_ok=True)
        except FileNotFoundError:
            self.check()
            raise
        return path
