"""The checkpoint that users hold: a directory, and what they noted about it."""

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
    """A directory with saved state, to be reported or to go on from.

    Args:
        path: The directory, or the URL of one in a store.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from overtone.store.files import is_url

        given = os.fspath(path)
        self._is_remote = is_url(given)
        self._where = given if self._is_remote else str(Path(given).expanduser().absolute())

    @property
    def path(self) -> str:
        """The directory; what lies at a URL is brought to this machine, where it stays for a while.

        Raises:
            StorageError: It cannot be brought.
        """
        if not self._is_remote:
            return self._where
        from overtone.store.remote import RemoteStore

        return str(RemoteStore(self._where.rpartition("/")[0]).get(self._where))

    @classmethod
    def from_directory(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """The checkpoint that the directory `path` is; nothing is copied before it is reported.

        Raises:
            StorageError: There is no such directory.
        """
        checkpoint = cls(path)
        if not os.path.isdir(checkpoint.path):
            raise StorageError(f"Checkpoint.from_directory needs a directory, and {str(path)!r} is none")
        return checkpoint

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checkpoint:
        """A checkpoint that holds `data`: JSON where it is plain, else a pickle.

        Its directory is temporary and goes with this object, or with this process. That of a process
        that is killed goes when another one makes its first checkpoint in this way.
        """
        import shutil
        import weakref

        folder = try_for_room(lambda: _written(data))
        checkpoint = cls(folder)
        weakref.finalize(checkpoint, shutil.rmtree, folder, True)
        return checkpoint

    def to_dict(self) -> Any:
        """The data of a checkpoint made with `from_dict`.

        It may unpickle: call it on your own checkpoints only.

        Raises:
            StorageError: The checkpoint holds files, not a dict.
        """
        return saving.read_dict(Path(self.path))

    def to_directory(self, path: str | os.PathLike[str] | None = None) -> str:
        """A copy of the contents in `path`, by default in a new temporary directory."""
        import shutil
        import tempfile

        from overtone.store.local import MANIFEST

        target = str(path) if path is not None else tempfile.mkdtemp(prefix="overtone_checkpoint_")
        ignore = shutil.ignore_patterns(saving.STATE_FILE, MANIFEST)
        shutil.copytree(self.path, target, dirs_exist_ok=True, ignore=ignore)
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """A directory with the contents, to be read inside the block."""
        yield self.path

    @property
    def value(self) -> str:
        """The path that was saved, the directory or the file in it, as scripts for Ray Tune 1.x read it."""
        return saving.opened(Path(self.path)).path

    dir_or_data = value

    def get_metadata(self) -> dict[str, Any]:
        """What was noted with `set_metadata` and `update_metadata`."""
        file = Path(self.path, METADATA_FILE)
        return dict(json.loads(read_regular(file))) if file.exists() else {}

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Note plain data beside the contents, instead of what was noted before."""
        Path(self.path, METADATA_FILE).write_text(json.dumps(dict(metadata)), "utf-8")

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add to what was noted."""
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
    """A new temporary directory with `data`; none is left where that fails."""
    import shutil

    from overtone.worker.checkpoints.temporary_folders import temporary_folder

    folder = temporary_folder()
    try:
        saving.write_dict(data, Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
