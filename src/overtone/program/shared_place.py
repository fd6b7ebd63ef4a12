"""Files that a sweep's driver and its agents share: below a folder or a URL.

Each file has one writer, which replaces it atomically, so no locks are needed: it works on NFS and S3.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from overtone.store.files import RemoteFiles, is_url
from overtone.store.retrying import persist

AGENTS = ".agents"
"""The folder of agents in an experiment's folder. No trial's name begins with a dot."""


PATIENCE_S = 60.0
"""Seconds for which a trial waits for a storage that fails."""


class Files(Protocol):
    """Files below a place, which is a folder or a URL."""

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file; None if it does not exist."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, replacing its contents."""

    def sizes(self, below: str = "") -> dict[str, int]:
        """Return the size of each file below a folder, by name, sorted."""

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; missing files are ignored."""


class FolderFiles:
    """Files below a folder of this machine, or one that machines share.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file; None if it does not exist."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, replacing its contents."""
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            draft.write_bytes(data)
            draft.replace(path)
        except OSError:
            with suppress(OSError):
                draft.unlink()  # If the disk is full, it would take room.
            raise

    def sizes(self, below: str = "") -> dict[str, int]:
        """Return the size of each file below a folder, by name, sorted."""
        found = {}
        for place, _, names in os.walk(self._folder / below):
            for name in names:
                if not name.endswith(".tmp"):
                    path = Path(place, name)
                    found[path.relative_to(self._folder).as_posix()] = path.stat().st_size
        return dict(sorted(found.items()))

    def owner(self, name: str) -> int:
        """Return the user id of a file's owner."""
        return (self._folder / name).stat().st_uid

    def remove_folder(self, name: str) -> None:
        """Delete a folder with all that is in it."""
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; missing files are ignored."""
        for name in names:
            (self._folder / name).unlink(missing_ok=True)


class PersistentFiles:
    """Files at a URL that may be away for a minute.

    Args:
        files: The files.
    """

    def __init__(self, files: Files) -> None:
        self._files = files

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file; None if it does not exist."""
        return persist(lambda: self._files.read(name), PATIENCE_S)

    def write(self, name: str, data: bytes) -> None:
        """Write a file, replacing its contents."""
        persist(lambda: self._files.write(name, data), PATIENCE_S)

    def sizes(self, below: str = "") -> dict[str, int]:
        """Return the size of each file below a folder, by name, sorted."""
        return persist(lambda: self._files.sizes(below), PATIENCE_S)

    def remove(self, names: Iterable[str]) -> None:
        """Delete files; missing files are ignored."""
        persist(lambda: self._files.remove(names), PATIENCE_S)

    def remove_folder(self, name: str) -> None:
        """Delete a folder with all that is in it."""
        if isinstance(self._files, FolderFiles):
            self._files.remove_folder(name)


def files_at(place: str) -> Files:
    """Return the files at the folder or URL of an experiment."""
    return RemoteFiles(place) if is_url(place) else FolderFiles(Path(place))


def read_json(files: Files, name: str) -> dict[str, Any]:
    """Return the object in a file; {} if it is missing or not yet whole."""
    try:
        found = json.loads(files.read(name) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def write_json(files: Files, name: str, value: Any) -> None:
    """Write a value to a file as JSON; NaN and the infinities as Python writes them."""
    files.write(name, json.dumps(value).encode())


def read_tree(files: Files, below: str, folder: Path) -> None:
    """Copy all files below a name to a folder, which must be new."""
    folder.mkdir(parents=True)
    for name in files.sizes(below):
        target = folder / name[len(below) + 1 :]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files.read(name) or b"")


def write_tree(files: Files, below: str, folder: Path) -> None:
    """Copy all files of a folder below a name."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            files.write(f"{below}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def remove_tree(files: Files, below: str) -> None:
    """Delete all files below a name that nobody writes to any more."""
    files.remove(list(files.sizes(below)))
    if isinstance(files, (FolderFiles, PersistentFiles)):
        files.remove_folder(below)


class Outbox:
    """Numbered batches of messages, from one writer to one reader.

    Args:
        below: The folder of the batches.
    """

    def __init__(self, files: Files, below: str) -> None:
        self._files, self._below, self._n_batches = files, below, 0
        self._messages: list[Any] = []

    def put(self, message: Any) -> None:
        """Add a message to the next batch."""
        self._messages.append(message)

    def flush(self) -> None:
        """Write the batch."""
        if self._messages:
            write_json(self._files, f"{self._below}/{self._n_batches:08d}.json", self._messages)
            self._n_batches += 1
            self._messages = []


class Inbox:
    """The reader's side of an `Outbox`."""

    def __init__(self, files: Files, below: str) -> None:
        self._files, self._below, self._n_batches = files, below, 0

    def take(self) -> list[Any]:
        """Return the messages of the next batch; [] if there is none."""
        name = f"{self._below}/{self._n_batches:08d}.json"
        data = self._files.read(name)
        if data is None:
            return []
        self._n_batches += 1
        self._files.remove([name])
        found = json.loads(data)
        return found if isinstance(found, list) else []
