"""Interface of stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
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

    @abstractmethod
    def list(self, prefix: str = "") -> list[str]:
        """Return the keys that start with `prefix`, sorted, without unfinished puts."""
