"""A store at a URL of any fsspec file system; directories are kept atomically, and checked when read.

A put uploads the files and then `.manifest.json` with the size and checksum of each: a directory
without a manifest does not count. A delete removes the manifest first. A get downloads into a
folder of this machine and checks the files there. Downloads not used for an hour are removed.
"""

from __future__ import annotations

import builtins
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.core.store import Store, key_of
from overtone.errors import DamagedError, StorageError
from overtone.regular_files import open_regular
from overtone.store.cache import FETCHED, local_folder
from overtone.store.files import RemoteFiles
from overtone.store.folder_mark import FolderMark
from overtone.store.lease import check_fence
from overtone.store.local import MANIFEST, STATE_FILE, LocalStore

KEPT_S = 3600.0
"""Time that a fetched directory stays after its last use, in seconds."""

_CHUNK_BYTES = 1 << 20


class RemoteStore(Store):
    """A store below `url`; a uri is the URL of a directory. Picklable, and cheap to create.

    Args:
        url: A URL such as "s3://bucket/x/experiment".
        options: Options of the file system, in addition to fsspec's own configuration and the
            environment.
        cache: Folder for fetched directories; by default a folder named after the URL.
        mark: The mark of the run's folder around `cache`, which is not created again; None creates
            missing folders.
        fence: The number of the writer's lease (`store.lease`); 0 for none. Keys of later holders
            carry their number, so an earlier holder cannot overwrite their files. Nothing is put
            or deleted once a higher number exists.
    """

    is_remote = True

    def __init__(
        self,
        url: str,
        options: Mapping[str, Any] | None = None,
        cache: str | os.PathLike[str] | None = None,
        fence: int = 0,
        mark: FolderMark | None = None,
    ) -> None:
        self.files = RemoteFiles(url, options)
        self.fence = fence
        self.url = self.files.url
        self.cache = Path(cache) if cache is not None else local_folder(self.url) / FETCHED
        self._home = mark or FolderMark(str(self.cache), is_private=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Import the needed packages after unpickling: once, before processes are forked from there."""
        self.__dict__.update(state)
        with suppress(Exception):  # a later use raises the error
            self.files.import_packages()

    def put(self, source: Path, key: str, move: bool = False) -> str:
        """Keep a copy of the directory `source` under `key`, atomically.

        Args:
            move: Whether to delete `source` afterwards.

        Raises:
            LeaseLostError: Another driver writes there now.
            StorageError: The source is not a directory, the key leaves the store, or the
                store failed; an UnreachableError if a retry may succeed.
        """
        source = Path(source)
        _check_key(key)
        if not source.is_dir():
            raise StorageError(f"{source} is not a directory: save into a directory and hand over its path")
        names = [name for name in _names(source) if name != MANIFEST]  # that of an earlier put
        files = {name: _facts(source / name) for name in names}
        target = self.files.below(key if self.fence < 2 else f"{key}_f{self.fence}")
        check_fence(self.files, self.fence)
        target.remove([MANIFEST])
        # if this process dies before the manifest, a resume recognises the trial by the state file
        target.upload({name: source / name for name in names if name == STATE_FILE})
        target.upload({name: source / name for name in names if name != STATE_FILE})
        target.write(MANIFEST, json.dumps({"format": 1, "files": files}).encode())
        if move:
            shutil.rmtree(source, ignore_errors=True)
        return target.url

    def add_files(self, files: Mapping[str, Path]) -> None:
        """Upload files next to the directories.

        Raises:
            LeaseLostError: Another driver writes there now.
            StorageError: The store failed; an UnreachableError if a retry may succeed.
        """
        check_fence(self.files, self.fence)
        self.files.upload(dict(files))

    def get(self, uri: str) -> Path:
        """Return a local, checked copy of the directory at `uri`; do not write to it.

        In a moved or copied experiment, return the directory that was moved or copied with it.

        Raises:
            DamagedError: The directory is missing or damaged; the message names the file.
            StorageError: The store failed; an UnreachableError if a retry may succeed.
        """
        uri = self._here(uri)
        there = RemoteFiles(uri, self.files.options)
        manifest = there.read(MANIFEST)
        if manifest is None:
            raise DamagedError(f"{uri} is not there: it was deleted, or never put there whole")
        folder = self.cache / self._name(uri, manifest)
        self._forget_old()
        if folder.is_dir():
            try:
                LocalStore(self.cache).get(str(folder))
                os.utime(folder)
                return folder
            except StorageError:  # the earlier download is damaged: fetch it again
                shutil.rmtree(folder, ignore_errors=True)
        return self._fetch(there, manifest, folder)

    def delete(self, uri: str) -> None:
        """Delete the directory at `uri`, atomically for readers. A missing directory is ignored.

        Raises:
            LeaseLostError: Another driver writes there now.
            StorageError: The uri is not in this store, or cannot be deleted.
        """
        uri = self._here(uri)
        if not uri.startswith(f"{self.url}/"):
            raise StorageError(f"{uri} is not below {self.url}: this store did not put it there")
        there = RemoteFiles(uri, self.files.options)
        check_fence(self.files, self.fence)
        there.remove([MANIFEST])
        there.remove(in_order_of_removal(there.sizes()))
        for fetched in self.cache.glob(f"{_stem(uri)}-*"):
            shutil.rmtree(fetched, ignore_errors=True)

    def _here(self, uri: str) -> str:
        """Return the URL `uri`; in a moved or copied experiment, that of the copy below this store."""
        key = None if uri.startswith(f"{self.url}/") else key_of(uri)
        if key is not None and self.files.below(key).read(MANIFEST) is not None:
            return f"{self.url}/{key}"
        return uri

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Return the keys that start with `prefix`, sorted, without unfinished puts."""
        end = f"/{MANIFEST}"
        names = self.files.sizes(prefix.rpartition("/")[0])
        found: builtins.list[str] = []
        for key in sorted(name[: -len(end)] for name in names if name.endswith(end)):
            if key.startswith(prefix) and not (found and key.startswith(f"{found[-1]}/")):
                found.append(key)
        return found

    # --- parts -------------------------------------------------------------------------

    def _fetch(self, there: RemoteFiles, manifest: bytes, folder: Path) -> Path:
        """Download the files of `manifest` into `folder`, atomically."""
        unfinished = folder.with_name(f".{folder.name}-{os.getpid()}-{os.urandom(4).hex()}")
        try:
            files = json.loads(manifest)["files"]
            targets = {name: _inside(unfinished, name) for name in files}
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedError(f"{there.url} is damaged: its {MANIFEST} cannot be read ({error})") from error
        try:
            for target in {unfinished / "x", *targets.values()}:
                self._home.make(*target.parent.relative_to(self._home.folder).parts)
            try:
                there.download(targets)
            except StorageError as error:
                if isinstance(error.__cause__, FileNotFoundError):
                    raise DamagedError(f"{there.url} is damaged: a file is missing ({error})") from error
                raise
            (unfinished / MANIFEST).write_bytes(manifest)
            try:
                LocalStore(self.cache).get(str(unfinished))
            except StorageError as error:
                raise DamagedError(str(error).replace(str(unfinished), there.url)) from error
            try:
                os.rename(unfinished, folder)
            except OSError:
                if not folder.is_dir():  # else another process fetched it at the same time
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return folder

    def _name(self, uri: str, manifest: bytes) -> str:
        return f"{_stem(uri)}-{sha256(manifest).hexdigest()[:12]}"

    def _forget_old(self) -> None:
        old = time.time() - KEPT_S
        try:
            with os.scandir(self.cache) as entries:
                for entry in entries:
                    if entry.stat().st_mtime < old:
                        shutil.rmtree(entry.path, ignore_errors=True)
        except FileNotFoundError:
            pass  # nothing was fetched yet, or another process removes it


def in_order_of_removal(names: Iterable[str]) -> builtins.list[str]:
    """Sort the files of a directory for removal: manifest first, the state file with its owner last."""
    last = {MANIFEST: 0, STATE_FILE: 2}
    return sorted(names, key=lambda name: last.get(name.rpartition("/")[2], 1))


def _stem(uri: str) -> str:
    return sha256(uri.encode()).hexdigest()[:12]


def _check_key(key: str) -> None:
    if "\\" in key or any(part in ("", ".", "..") for part in key.split("/")):
        raise StorageError(f'key {key!r} must be names joined by "/", such as "trial/checkpoint_000010"')


def _inside(folder: Path, name: str) -> Path:
    """Return the target path of the file `name` of a manifest: never outside of `folder`."""
    if not isinstance(name, str) or "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError(f"{name!r} is not a file name")
    return folder.joinpath(*name.split("/"))


def _names(folder: Path) -> list[str]:
    """Return the names of all files below `folder`, links followed, with "/" between the parts."""
    return [
        Path(where, name).relative_to(folder).as_posix()
        for where, _, names in os.walk(folder, followlinks=True)
        for name in names
    ]


def _facts(path: Path) -> tuple[int, int]:
    """Return size and checksum of a file."""
    size = checksum = 0
    with open_regular(path, buffer_bytes=0) as file:
        while chunk := file.read(_CHUNK_BYTES):
            size += len(chunk)
            checksum = crc32(chunk, checksum)
    return size, checksum
