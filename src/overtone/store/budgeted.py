"""A store with a size limit, shared by all its writers on this machine."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from overtone.core.store import Store
from overtone.errors import NoRoomError
from overtone.file_lock import locked
from overtone.quantity_text import size_text
from overtone.store.folder_mark import FolderGoneError
from overtone.store.local import LocalStore

BOOK = ".checkpoint_sizes.json"
LOOK_EVERY_S = 0.02


class Budgeted(Store):
    """Limits `store` to `most_bytes` plus one checkpoint.

    One put at a time checks for room and then uses it. Without room a put waits for a delete, which the
    driver orders (`core.retention`). Copies that are being prepared next to the store are not counted.

    Args:
        store: The store to limit.
        most_bytes: Limit in bytes: a put begins while at most this much is kept.
        folder: A local folder for the book of sizes, the same for all users of the store.
        patience_s: Longest wait of a put for room, in seconds.
    """

    def __init__(self, store: Store, most_bytes: int, folder: Path, patience_s: float = 10.0) -> None:
        self._store, self._most_bytes, self._patience_s = store, most_bytes, patience_s
        self._book = folder / BOOK

    def put(self, source: Path, key: str, move: bool = False) -> str:
        """Put as `store` does, after a wait for room.

        Raises:
            NoRoomError: There is no room, and no delete made room within `patience_s`.
        """
        size = size_of(source)
        give_up_at = time.monotonic() + self._patience_s
        while True:
            with self._turn() as sizes:
                kept = sum(sizes.values())
                if kept <= self._most_bytes:
                    uri = self._store.put(source, key, move)
                    sizes[uri] = size
                    return uri
            if time.monotonic() >= give_up_at:
                raise NoRoomError(
                    f"the checkpoints that are needed take {size_text(kept)}, and max_disk is "
                    f"{size_text(self._most_bytes)}: give more room, or keep fewer trials alive at once"
                )
            time.sleep(LOOK_EVERY_S)

    def get(self, uri: str) -> Path:
        return self._store.get(uri)

    def delete(self, uri: str) -> None:
        self._store.delete(uri)
        with self._turn() as sizes:
            sizes.pop(uri, None)

    def add_files(self, files: Mapping[str, Path]) -> None:
        self._store.add_files(files)

    def list(self, prefix: str = "") -> list[str]:
        return self._store.list(prefix)

    @contextmanager
    def _turn(self) -> Iterator[dict[str, int]]:
        """Yield the sizes by uri, locked against other processes during the block."""
        try:
            file = os.open(self._book, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError as error:
            raise FolderGoneError(f"{self._book.parent} is not there: it was moved or deleted") from error
        with locked(file):
            before = os.pread(file, os.fstat(file).st_size, 0)
            sizes = _read(before)
            yield sizes
            after = json.dumps(sizes).encode()
            if after != before:
                os.pwrite(file, after, 0)
                os.ftruncate(file, len(after))


def write_book(folder: Path, sizes: Mapping[str, int]) -> None:
    """Replace the book in `folder` by `sizes`; call it only while no trial runs."""
    with Budgeted(LocalStore(folder), 0, folder)._turn() as book:
        book.clear()
        book.update(sizes)


def within(store: Store, most_bytes: int | None, folder: Path, patience_s: float = 10.0) -> Store:
    """Return `store` with a limit, or `store` itself if `most_bytes` is None."""
    return store if most_bytes is None else Budgeted(store, most_bytes, folder, patience_s)


def size_of(folder: Path) -> int:
    """Return the total size of the files below `folder`, in bytes."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(where, name)).st_size
            except OSError:  # a link to nowhere
                continue
    return total


def _read(text: bytes) -> dict[str, int]:
    """Return the sizes in the book, ignoring text that a crash left behind them; {} if unreadable."""
    try:
        sizes, _ = json.JSONDecoder().raw_decode(text.decode())
    except ValueError:
        return {}
    return sizes if isinstance(sizes, dict) else {}
