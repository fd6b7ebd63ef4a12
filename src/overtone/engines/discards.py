"""Deletes checkpoints in a thread, since the engine's loop must not wait for a disk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from overtone.core.store import Store
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderGoneError


class Discards:
    """A thread that deletes from a store, started with the first deletion.

    Args:
        store: The store of the checkpoints; None if nothing is to be deleted.
        wake: Called when `done` has a new URI.
    """

    def __init__(self, store: Store | None, wake: Callable[[], None]) -> None:
        self._store = store
        self._wake = wake
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._done: deque[str] = deque()
        self._thread: threading.Thread | None = None

    def put(self, uri: str) -> None:
        """Queue this checkpoint for deletion."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._delete_all, name="overtone-discards", daemon=True)
            self._thread.start()
        self._waiting.put(uri)

    def done(self) -> list[str]:
        """Return the URIs that were handled since the last call, also after a failed deletion."""
        if not self._done:
            return []
        return [self._done.popleft() for _ in range(len(self._done))]

    def close(self, patience_s: float) -> None:
        """Wait until all queued checkpoints are deleted, at most `patience_s` seconds."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(patience_s)

    def _delete_all(self) -> None:
        while (uri := self._waiting.get()) is not None:
            try:
                if self._store is not None:
                    self._store.delete(uri)
            except FolderGoneError:
                pass  # the checkpoint is gone with the folder, which ends the run
            except Exception as error:
                # the run continues, with a folder left over
                say(f"the checkpoint {uri} could not be deleted: {error}")
            self._done.append(uri)
            self._wake()
