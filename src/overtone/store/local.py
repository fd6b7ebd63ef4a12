"""A store in a folder of this machine; directories are kept atomically and checked when read.

A put copies into a hidden sibling, writes size and checksum of each file to `.manifest.json`, and
renames: a directory with a manifest is whole. A delete renames first, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from overtone.core.store import Store, key_of
from overtone.errors import DamagedError, StorageError
from overtone.regular_files import open_regular, read_regular
from overtone.store.folder_mark import FolderMark

if TYPE_CHECKING:
    from typing import NoReturn

MANIFEST = ".manifest.json"
STATE_FILE = ".overtone.json"
METADATA_FILE = ".metadata.json"
"""The user's notes on a checkpoint: they may change after the checkpoint was put into a store."""
"""File in each checkpoint with the state of the session that saved it."""

_UNFINISHED = ".put-"
_DELETED = ".deleted-"
_CHUNK_BYTES = 1 << 20


class LocalStore(Store):
    """A store below `root`; a uri is the absolute path of a directory. Picklable, and cheap to create.

    Args:
        root: The folder, which need not exist yet.
        durable: Whether `put` waits until the disk has the data, so that the checkpoint survives a
            power cut right after.
        mark: The mark of a run's folder, if only that folder may be written; None creates a missing
            root.
    """

    def __init__(
        self, root: str | os.PathLike[str], durable: bool = True, mark: FolderMark | None = None
    ) -> None:
        self.root: Path = Path(os.path.abspath(root))
        self.durable = durable
        self.mark = mark or FolderMark(str(self.root), is_private=True)

    def put(self, source: Path, key: str, move: bool = False) -> str:
        """Keep the directory `source` under `key`, atomically; an earlier directory is replaced.

        Args:
            source: The directory.
            key: The key, such as "358bb_00006/checkpoint_000010".
            move: Whether to move the directory instead of copying it.

        Returns:
            The path of the kept directory.

        Raises:
            StorageError: The source is not a directory, the key leaves the root, or the
                folder cannot be written; nothing is left behind then.
            FolderGoneError: The root is no longer the folder of `mark`.
        """
        source = Path(source)
        target = self._target(key)
        if not source.is_dir():
            raise StorageError(f"{source} is not a directory: save into a directory and hand over its path")
        unfinished = target.with_name(f"{_UNFINISHED}{target.name}-{os.getpid()}-{os.urandom(4).hex()}")
        try:
            self.mark.make(*target.parent.relative_to(self.root).parts)
            self._check_inside(target)
            if move and _moved(source, unfinished):
                files = {name: _digest(unfinished / name, None, self.durable) for name in _files(unfinished)}
            else:
                unfinished.mkdir()
                files = self._copy(source, unfinished)
            self._seal(unfinished, files)
            put = os.stat(unfinished)
            self._replace(unfinished, target)
            if not self.mark.is_there and _is(target, put):  # deleted at the same moment
                remove(target)
            self.mark.check()
        except OSError as error:
            if move and unfinished.exists() and not source.exists():
                os.rename(unfinished, source)
            if isinstance(error, StorageError):
                raise
            self.mark.check()
            self._unwritable(error)
        finally:
            remove(unfinished)
        if move:
            remove(source)
        return str(target)

    def get(self, uri: str) -> Path:
        """Return the directory at `uri` after a check of all its files; do not write to it.

        In a moved or copied experiment, return the directory that was moved or copied with it.

        Raises:
            DamagedError: The directory is missing or damaged; the message names the file.
        """
        path = self._here(uri)
        try:
            files: dict[str, list[int]] = json.loads(read_regular(path / MANIFEST))["files"]
        except FileNotFoundError as error:
            if path.is_dir():
                raise DamagedError(f"{uri} has no {MANIFEST}: it was not put here by a store") from error
            raise DamagedError(f"{uri} is not there: it was deleted, or its folder was moved") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _damaged(uri, f"its {MANIFEST} cannot be read ({error})") from error
        for name, (size, checksum) in files.items():
            if name == METADATA_FILE:
                continue
            try:
                has = os.stat(path / name).st_size
            except OSError as error:
                raise _damaged(uri, f"{name} is missing") from error
            if has != size:
                raise _damaged(uri, f"{name} has {has} bytes, not {size}")
            try:
                is_whole = _digest(path / name, None, sync=False)[1] == checksum
            except OSError as error:
                raise _damaged(uri, f"{name} cannot be read ({error})") from error
            if not is_whole:
                raise _damaged(uri, f"the contents of {name} changed")
        return path

    def delete(self, uri: str) -> None:
        """Delete the directory at `uri`, atomically for readers. A missing directory is ignored.

        Raises:
            StorageError: The uri is not in this store, or cannot be deleted.
            FolderGoneError: The root is no longer the folder of `mark`.
        """
        path = self._here(uri)
        if self.root not in path.parents:
            raise StorageError(f"{uri} is not below {self.root}: this store did not put it there")
        self._check_inside(path)
        self.mark.check()  # or it might be another experiment's
        # A trial may send any uri, such as the journal's.
        if path.exists() and not path.is_symlink() and not (path / MANIFEST).exists():
            raise StorageError(f"{uri} has no {MANIFEST}: this store did not put it there")
        hidden = path.with_name(f"{_DELETED}{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
        try:
            os.rename(path, hidden)
        except FileNotFoundError:
            return
        except OSError as error:
            self._unwritable(error)
        remove(hidden)

    def list(self, prefix: str = "") -> list[str]:
        """Return the keys that start with `prefix`, sorted, without unfinished puts."""
        return sorted(key for key in self._keys(self.root, "") if key.startswith(prefix))

    # --- parts -------------------------------------------------------------------------

    def _here(self, uri: str) -> Path:
        """Return the path at `uri`; in a moved or copied experiment, that of the copy below the root."""
        path = Path(os.path.abspath(uri))
        key = None if self.root in path.parents else key_of(uri)
        if key is not None and os.path.isdir(copy := self.root / key):
            return copy
        return path

    def _check_inside(self, path: Path) -> None:
        """Refuse a path through a link that leads out of the root, as a foreign experiment may contain."""
        folder, root = os.path.realpath(path.parent), os.path.realpath(self.root)
        if folder != root and not folder.startswith(os.path.join(root, "")):
            raise StorageError(
                f"{path.parent} is a link that leads out of {self.root}, to {folder}: nothing is written or "
                "deleted there. Put the folder itself in the place of the link"
            )

    def _target(self, key: str) -> Path:
        parts = key.split("/")
        if "\\" in key or any(
            part in ("", ".", "..") or part.startswith((_UNFINISHED, _DELETED)) for part in parts
        ):
            raise StorageError(f'key {key!r} must be names joined by "/", such as "trial/checkpoint_000010"')
        return self.root.joinpath(*parts)

    def _copy(self, source: Path, target: Path) -> dict[str, tuple[int, int]]:
        """Copy everything, links followed; return the size and checksum of each file."""
        files: dict[str, tuple[int, int]] = {}
        with os.scandir(source) as found:
            entries = tuple(found)
        for entry in entries:
            if entry.is_dir():
                (target / entry.name).mkdir()
                below = self._copy(source / entry.name, target / entry.name)
                files.update({f"{entry.name}/{name}": facts for name, facts in below.items()})
                if self.durable:
                    sync_folder(target / entry.name)
            else:
                files[entry.name] = _digest(source / entry.name, target / entry.name, self.durable)
        return files

    def _seal(self, folder: Path, files: dict[str, tuple[int, int]]) -> None:
        """Write the manifest of `folder`, which makes it whole."""
        files.pop(MANIFEST, None)  # a copied manifest belongs to an earlier put
        with open(folder / MANIFEST, "w", encoding="utf-8") as file:
            json.dump({"format": 1, "files": files}, file)
            file.flush()
            if self.durable:
                os.fsync(file.fileno())
        if self.durable:
            sync_folder(folder)

    def _replace(self, unfinished: Path, target: Path) -> None:
        try:
            os.rename(unfinished, target)
        except OSError:
            if not target.exists():
                raise
            self.delete(str(target))
            os.rename(unfinished, target)
        if self.durable:
            sync_folder(target.parent)

    def _keys(self, folder: Path, above: str) -> Iterator[str]:
        try:
            with os.scandir(folder) as found:
                entries = tuple(found)
        except FileNotFoundError:
            return
        if above and any(entry.name == MANIFEST for entry in entries):
            yield above
            return
        for entry in entries:
            if not entry.name.startswith((_UNFINISHED, _DELETED)) and entry.is_dir(follow_symlinks=False):
                yield from self._keys(folder / entry.name, f"{above}/{entry.name}" if above else entry.name)

    def _unwritable(self, error: OSError) -> NoReturn:
        raise StorageError(
            f"{self.root} cannot be written: {error.strerror or error} ({error.filename}). Make room there "
            f"or allow writing, or choose another storage_path."
        ) from error


def _damaged(uri: str, what: str) -> DamagedError:
    return DamagedError(f"{uri} is damaged: {what}; go on from an earlier checkpoint")


def _files(folder: Path) -> Iterator[str]:
    """Yield the names of all files below `folder`, with "/" between the parts."""
    for where, _, names in os.walk(folder, followlinks=True):
        for name in names:
            yield Path(where, name).relative_to(folder).as_posix()


def _is(path: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), file)
    except OSError:
        return False


def _moved(source: Path, target: Path) -> bool:
    try:
        os.rename(source, target)
    except OSError:  # another file system, or not ours to move
        return False
    return True


def remove(folder: Path) -> None:
    """Delete a folder and its contents, as far as possible; of a link, only the link."""
    if os.path.islink(folder):
        _try(os.unlink, folder)
        return
    for where, names, files in os.walk(folder, topdown=False):
        for name in files:
            _try(os.unlink, os.path.join(where, name))
        for name in names:
            path = os.path.join(where, name)
            _try(os.unlink if os.path.islink(path) else os.rmdir, path)
    _try(os.rmdir, folder)


def _try(action: Callable[[str | Path], None], path: str | Path) -> None:
    try:
        action(path)
    except OSError:  # already gone, or not permitted: the rest is hidden, and a resume finds it
        pass


def _digest(source: Path, target: Path | None, sync: bool) -> tuple[int, int]:
    """Return size and checksum of a file, and copy it to `target` if given."""
    size = checksum = 0
    with ExitStack() as stack:
        file = stack.enter_context(open_regular(source, buffer_bytes=0))
        out = stack.enter_context(open(target, "wb")) if target is not None else None
        while chunk := file.read(_CHUNK_BYTES):
            size += len(chunk)
            checksum = crc32(chunk, checksum)
            if out is not None:
                out.write(chunk)
        if out is not None:
            out.flush()
        if sync:
            os.fsync((out or file).fileno())
    return size, checksum


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder."""
    try:
        fd = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
