"""Interface of stores, and the keys in their uris."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path


class Store(ABC):
    """Keeps checkpoints and artifacts, each a directory under a key.

    Attributes:
        root: The local folder that contains the directories; None if there is none.
        is_remote: Whether any machine can use the store directly.
    """

    root: Path | None = None
    is_remote: bool = False

    @abstractmethod
    def put(self, source: Path, key: str, move: bool = False) -> str:
        """Store a copy of the directory `source` under `key`, atomically.

        Args:
            move: Whether `source` may be moved, which can save the copy.

        Returns:
            Its uri.
        """

    @abstractmethod
    def get(self, uri: str) -> Path:
        """Return a local directory with the contents; callers must not write to it."""

    @abstractmethod
    def delete(self, uri: str) -> None:
        """Delete the contents of `uri`, if they exist."""

    def add_files(self, files: Mapping[str, Path]) -> None:
        """Copy files that trials wrote to where the experiment's folder is, for processes that do not see it.

        Args:
            files: The files, by names such as "358bb_00006/model.pth".
        """

    @abstractmethod
    def list(self, prefix: str = "") -> list[str]:
        """Return the keys that start with `prefix`, sorted, without unfinished puts."""


def key_of(uri: str) -> str | None:
    """Return the key under which a store put the checkpoint at `uri`; None if the uri has no key.

    The experiment may have been moved or copied after the uri was recorded.

    >>> key_of("/home/ada/overtone_results/exp/a9c1c_00001/checkpoint_000010")
    'a9c1c_00001/checkpoint_000010'
    """
    parts = uri.replace("\\", "/").rstrip("/").split("/")
    if len(parts) < 3 or "" in parts[-2:] or "." in parts or ".." in parts or "\0" in uri:
        return None
    return "/".join(parts[-2:])
