"""Deletes checkpoints beside the loop, which must not wait for a disk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from overtone.core.protocols import Store
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderGoneError


class Discards:
    """A thread that deletes from a store, started with the first deletion.

    Args:
        store: Where the checkpoints are; None to have nothing to delete.
        wake: Called when `done` has something new.
    """

    def __init__(self, store: Store | None, wake: Callable[[], None]) -> None:
        self._store = store
        self._wake = wake
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._done: deque[str] = deque()
        self._thread: threading.Thread | None = None

    def put(self, uri: str) -> None:
        """Delete this checkpoint soon."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._delete_all, name="overtone-discards", daemon=True)
            self._thread.start()
        self._waiting.put(uri)

    def done(self) -> list[str]:
        """What was deleted since the last call."""
        if not self._done:
            return []
        return [self._done.popleft() for _ in range(len(self._done))]

    def close(self, patience_s: float) -> None:
        """Wait, for so long, until all is deleted."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(patience_s)

    def _delete_all(self) -> None:
        while (uri := self._waiting.get()) is not None:
            try:
                if self._store is not None:
                    self._store.delete(uri)
            except FolderGoneError:
                pass  # the checkpoint went with the folder, which ends the run
            except Exception as error:
                # the run goes on with a folder too many
                say(f"the checkpoint {uri} could not be deleted: {error}")
            self._done.append(uri)
            self._wake()
