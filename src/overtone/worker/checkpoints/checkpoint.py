"""The user's checkpoint: a directory with optional metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overtone.errors import StorageError
from overtone.regular_files import read_regular
from overtone.store.local import METADATA_FILE
from overtone.store.room import try_for_room
from overtone.worker.checkpoints import saving
from overtone.worker.checkpoints.arrow_files import download, is_elsewhere, local_filesystem, read, write


class Checkpoint:
    """A directory with saved state, to report or to restore from.

    Args:
        path: The directory, or its URL in a store.
        filesystem: The pyarrow file system on which `path` is; None for this machine or a URL.
    """

    def __init__(self, path: str | os.PathLike[str], filesystem: Any = None) -> None:
        from overtone.store.files import is_url

        given = os.fspath(path)
        self._elsewhere = filesystem if is_elsewhere(filesystem) else None
        self._is_remote = self._elsewhere is None and is_url(given)
        if self._elsewhere is None and not self._is_remote:
            given = str(Path(given.removeprefix("file://")).expanduser().absolute())
        self._where = given
        self._copy: str | None = None

    @property
    def path(self) -> str:
        """The directory. A checkpoint at a URL is first downloaded to a temporary cache on this machine.

        With a `filesystem` of the user it is the path there; `as_directory()` is on this machine.

        Raises:
            StorageError: The download failed.
        """
        return self._where if self._elsewhere is not None else self._here()

    @property
    def filesystem(self) -> Any:
        """The file system of `path`, as pyarrow has it.

        Raises:
            MissingPackageError: pyarrow is not installed.
        """
        return local_filesystem() if self._elsewhere is None else self._elsewhere

    @property
    def uri(self) -> str:
        """The URL of the checkpoint; "file:///..." for a directory on this machine."""
        return self._where if self._is_remote else f"file://{self._where}"

    @classmethod
    def from_uri(cls, uri: str) -> Checkpoint:
        """Return the checkpoint at a URL, as `Checkpoint(uri)` does."""
        return cls(uri)

    def _here(self) -> str:
        """Return the directory on this machine; it is fetched if it is elsewhere."""
        if self._is_remote:
            from overtone.store.remote import RemoteStore

            return str(RemoteStore(self._where.rpartition("/")[0]).get(self._where))
        if self._elsewhere is None:
            return self._where
        if self._copy is None:
            import shutil
            import weakref

            folder = try_for_room(lambda: _filled(self._fetch))
            weakref.finalize(self, shutil.rmtree, folder, True)
            self._copy = folder
        return self._copy

    def _fetch(self, folder: str) -> None:
        download(self._elsewhere, self._where, folder)

    @classmethod
    def from_directory(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Return a checkpoint for the directory `path`. Its files are copied only when it is reported.

        Raises:
            StorageError: There is no such directory.
        """
        checkpoint = cls(path)
        if not os.path.isdir(checkpoint._here()):
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

        folder = try_for_room(lambda: _filled(lambda folder: saving.write_dict(data, Path(folder))))
        checkpoint = cls(folder)
        weakref.finalize(checkpoint, shutil.rmtree, folder, True)
        return checkpoint

    def to_dict(self) -> Any:
        """Return the data of a checkpoint made with `from_dict`.

        This may unpickle: call it on your own checkpoints only.

        Raises:
            StorageError: The checkpoint holds files, not a dict.
        """
        return saving.read_dict(Path(self._here()))

    def to_directory(self, path: str | os.PathLike[str] | None = None) -> str:
        """Copy the contents to `path`, by default a new temporary directory, and return its path."""
        import shutil
        import tempfile

        from overtone.store.local import MANIFEST

        if path is None:
            target = tempfile.mkdtemp(prefix="overtone_checkpoint_")
        else:
            target = os.path.normpath(os.path.expanduser(os.fspath(path)))
        ignore = shutil.ignore_patterns(saving.STATE_FILE, MANIFEST)
        shutil.copytree(self._here(), target, dirs_exist_ok=True, ignore=ignore)
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """Yield a directory with the contents, to be read inside the block."""
        yield self._here()

    @property
    def value(self) -> str:
        """The saved path (the directory or the file in it), for scripts written for Ray Tune 1.x."""
        return saving.opened(Path(self._here())).path

    dir_or_data = value

    def get_metadata(self) -> dict[str, Any]:
        """Return the metadata set by `set_metadata` and `update_metadata`."""
        file = Path(self._where, METADATA_FILE)
        data: bytes | None
        if self._elsewhere is not None:
            data = read(self._elsewhere, file.as_posix())
        elif self._is_remote:
            from overtone.store.files import RemoteFiles

            data = RemoteFiles(self._where).read(METADATA_FILE)
        else:
            data = read_regular(file) if file.exists() else None
        return {} if data is None else dict(json.loads(data))

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Replace the metadata, which must be plain data. Metadata of a kept checkpoint may be changed, too.

        Raises:
            TypeError: The metadata is not plain data.
        """
        data = json.dumps(dict(metadata)).encode()
        file = Path(self._where, METADATA_FILE)
        if self._elsewhere is not None:
            write(self._elsewhere, file.as_posix(), data)
        elif self._is_remote:
            from overtone.store.files import RemoteFiles

            RemoteFiles(self._where).write(METADATA_FILE, data)
        else:
            new = file.with_name(f"{METADATA_FILE}.{os.urandom(4).hex()}")  # another process may write, too
            new.write_bytes(data)
            os.replace(new, file)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add entries to the metadata."""
        self.set_metadata({**self.get_metadata(), **metadata})

    def __repr__(self) -> str:
        return f"Checkpoint({self._where!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Checkpoint)
            and other._where == self._where
            and other._elsewhere == self._elsewhere
        )

    def __hash__(self) -> int:
        return hash(self._where)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_copy": None}  # another process fetches its own

    def __fspath__(self) -> str:
        """Return the saved path: a path in Ray Tune 1.x, where a checkpoint was that path."""
        return self.value


def _filled(fill: Callable[[str], None]) -> str:
    """Return a new temporary directory that `fill` has filled; delete the directory if it fails."""
    import shutil

    from overtone.worker.checkpoints.temporary_folders import temporary_folder

    folder = temporary_folder()
    try:
        fill(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
