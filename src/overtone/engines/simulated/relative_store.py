"""Checkpoints of a simulated run under names that are the same on every machine."""

from __future__ import annotations

import os
from pathlib import Path

from overtone.core.protocols import Store


class RelativeStore(Store):
    """A store whose uris are paths from `folder`, where the checkpoints lie in it; others stay as they are.

    Args:
        store: Where they are kept.
        folder: The experiment's.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._root = os.path.abspath(folder) + os.sep

    def put(self, source: Path, key: str, move: bool = False) -> str:
        return self._store.put(source, key, move).removeprefix(self._root)

    def get(self, uri: str) -> Path:
        return self._store.get(self._full(uri))

    def delete(self, uri: str) -> None:
        self._store.delete(self._full(uri))

    def list(self, prefix: str = "") -> list[str]:
        return self._store.list(prefix)

    def _full(self, uri: str) -> str:
        return uri if "://" in uri else os.path.join(self._root, uri)
