"""A store with a limit to what it keeps, for all who write to it on this machine."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from overtone.core.protocols import Store
from overtone.errors import NoRoomError
from overtone.store.folder_mark import FolderGoneError
from overtone.store.local import LocalStore

BOOK = ".checkpoint_sizes.json"
LOOK_EVERY_S = 0.02


class Budgeted(Store):
    """Keeps what `store` keeps, and no more than `most_bytes` and one checkpoint.

    One put at a time looks whether there is room and then takes it. Where there is none it
    waits until a delete makes some, which the driver orders (`core.retention`). Copies that
    are being made ready beside the store are not counted.

    Args:
        store: The store itself.
        most_bytes: A put begins while no more than this is kept.
        folder: A local folder for the book of sizes, the same for all who use the store.
        patience_s: How long a put waits for room.
    """

    def __init__(self, store: Store, most_bytes: int, folder: Path, patience_s: float = 10.0) -> None:
        self._store, self._most_bytes, self._patience_s = store, most_bytes, patience_s
        self._book = folder / BOOK

    def put(self, source: Path, key: str, move: bool = False) -> str:
        """As the store's, once there is room.

        Raises:
            NoRoomError: There is none, and nothing was deleted for a while.
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
                    f"the checkpoints that are needed take {_shown(kept)}, and max_disk is "
                    f"{_shown(self._most_bytes)}: give more room, or keep fewer trials alive at once"
                )
            time.sleep(LOOK_EVERY_S)

    def get(self, uri: str) -> Path:
        return self._store.get(uri)

    def delete(self, uri: str) -> None:
        self._store.delete(uri)
        with self._turn() as sizes:
            sizes.pop(uri, None)

    def list(self, prefix: str = "") -> list[str]:
        return self._store.list(prefix)

    @contextmanager
    def _turn(self) -> Iterator[dict[str, int]]:
        """The sizes by uri, which nobody else sees or changes during the block."""
        import fcntl

        try:
            file = os.open(self._book, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError as error:
            raise FolderGoneError(f"{self._book.parent} is not there: it was moved or deleted") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = os.pread(file, os.fstat(file).st_size, 0)
            sizes = _read(before)
            yield sizes
            after = json.dumps(sizes).encode()
            if after != before:
                os.pwrite(file, after, 0)
                os.ftruncate(file, len(after))
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # a child that was forked in the block has the lock, too
            os.close(file)


def write_book(folder: Path, sizes: Mapping[str, int]) -> None:
    """Let the book in `folder` say what is kept there, and no more; no trial runs."""
    with Budgeted(LocalStore(folder), 0, folder)._turn() as book:
        book.clear()
        book.update(sizes)


def within(store: Store, most_bytes: int | None, folder: Path, patience_s: float = 10.0) -> Store:
    """`store` with a limit, where there is one."""
    return store if most_bytes is None else Budgeted(store, most_bytes, folder, patience_s)


def size_of(folder: Path) -> int:
    """What the files below `folder` take, in bytes."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(where, name)).st_size
            except OSError:  # a link to nowhere
                continue
    return total


def _read(text: bytes) -> dict[str, int]:
    """The book, with what a crash may have left behind it; empty where that is all."""
    try:
        sizes, _ = json.JSONDecoder().raw_decode(text.decode())
    except ValueError:
        return {}
    return sizes if isinstance(sizes, dict) else {}


def _shown(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.3g} {unit}"
