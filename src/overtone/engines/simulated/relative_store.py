"""A store whose URIs are the same on every machine, for simulated runs."""

from __future__ import annotations

import os
from pathlib import Path

from overtone.core.store import Store


class RelativeStore(Store):
    """A store whose URIs of checkpoints in `folder` are relative paths; other URIs are unchanged.

    Args:
        store: The store that keeps the checkpoints.
        folder: The folder of the experiment.
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
