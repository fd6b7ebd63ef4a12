"""The user's checkpoint: a directory with optional metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overtone.errors import StorageError
from overtone.regular_files import read_regular
from overtone.store.room import try_for_room
from overtone.worker.checkpoints import saving

METADATA_FILE = ".metadata.json"


class Checkpoint:
    """A directory with saved state, to report or to restore from.

    Args:
        path: The directory, or its URL in a store.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from overtone.store.files import is_url

        given = os.fspath(path)
        self._is_remote = is_url(given)
        self._where = given if self._is_remote else str(Path(given).expanduser().absolute())

    @property
    def path(self) -> str:
        """The directory. A checkpoint at a URL is first downloaded to a temporary cache on this machine.

        Raises:
            StorageError: The download failed.
        """
        if not self._is_remote:
            return self._where
        from overtone.store.remote import RemoteStore

        return str(RemoteStore(self._where.rpartition("/")[0]).get(self._where))

    @classmethod
    def from_directory(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Return a checkpoint for the directory `path`. Its files are copied only when it is reported.

        Raises:
            StorageError: There is no such directory.
        """
        checkpoint = cls(path)
        if not os.path.isdir(checkpoint.path):
            raise StorageError(f"Checkpoint.from_directory needs a directory, and {str(path)!r} is none")
        return checkpoint

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checkpoint:
        """Return a checkpoint that holds `data`: as JSON if the data is plain, else as a pickle.

        Its temporary directory is deleted with this object, or at the end of this process. If the process
        is killed, the next process that creates such a checkpoint deletes the directory.
        """
        import shutil
        import weakref

        folder = try_for_room(lambda: _written(data))
        checkpoint = cls(folder)
        weakref.finalize(checkpoint, shutil.rmtree, folder, True)
        return checkpoint

    def to_dict(self) -> Any:
        """Return the data of a checkpoint made with `from_dict`.

        This may unpickle: call it on your own checkpoints only.

        Raises:
            StorageError: The checkpoint holds files, not a dict.
        """
        return saving.read_dict(Path(self.path))

    def to_directory(self, path: str | os.PathLike[str] | None = None) -> str:
        """Copy the contents to `path`, by default a new temporary directory, and return its path."""
        import shutil
        import tempfile

        from overtone.store.local import MANIFEST

        target = str(path) if path is not None else tempfile.mkdtemp(prefix="overtone_checkpoint_")
        ignore = shutil.ignore_patterns(saving.STATE_FILE, MANIFEST)
        shutil.copytree(self.path, target, dirs_exist_ok=True, ignore=ignore)
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """Yield a directory with the contents, to be read inside the block."""
        yield self.path

    @property
    def value(self) -> str:
        """The saved path (the directory or the file in it), for scripts written for Ray Tune 1.x."""
        return saving.opened(Path(self.path)).path

    dir_or_data = value

    def get_metadata(self) -> dict[str, Any]:
        """Return the metadata set by `set_metadata` and `update_metadata`."""
        file = Path(self.path, METADATA_FILE)
        return dict(json.loads(read_regular(file))) if file.exists() else {}

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Replace the metadata, which must be plain data."""
        Path(self.path, METADATA_FILE).write_text(json.dumps(dict(metadata)), "utf-8")

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add entries to the metadata."""
        self.set_metadata({**self.get_metadata(), **metadata})

    def __repr__(self) -> str:
        return f"Checkpoint({self._where!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and other._where == self._where

    def __hash__(self) -> int:
        return hash(self._where)

    def __fspath__(self) -> str:
        return self.path


def _written(data: Mapping[str, Any]) -> str:
    """Return a new temporary directory with `data`; delete the directory if writing fails."""
    import shutil

    from overtone.worker.checkpoints.temporary_folders import temporary_folder

    folder = temporary_folder()
    try:
        saving.write_dict(data, Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
