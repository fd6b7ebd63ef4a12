"""Files by name below a URL of any fsspec file system, with errors that name a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overtone.errors import StorageError
from overtone.store.failures import UnreachableError, missing, told

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_EXCLUSIVE = frozenset({"s3", "s3a", "gs", "gcs", "file", "local", "memory"})
_IMPATIENT = {"connect_timeout": 5, "read_timeout": 60, "retries": {"max_attempts": 1}}


def is_url(text: str) -> bool:
    """Return whether `text` is a URL on an fsspec file system other than this machine's own."""
    found = _URL.fullmatch(text)
    return found is not None and found[1].lower() not in ("file", "local")


def local_path(text: str) -> str:
    """Return a path, or the path of a URL of this machine's own file system, such as file:///tmp/search."""
    found = _URL.fullmatch(text)
    return found[2] if found is not None and found[1].lower() in ("file", "local") else text


def protocol_of(url: str) -> str:
    """Return the protocol of a URL, such as "s3"; "file" for a path."""
    found = _URL.fullmatch(url)
    return found[1].lower() if found is not None else "file"


def joined(url: str, name: str) -> str:
    """Return the URL of `name` below `url`."""
    found = _URL.fullmatch(url)
    if found is None:
        return f"{url.rstrip('/')}/{name}"
    below = found[2].rstrip("/")
    return f"{found[1]}://{below}/{name}" if below else f"{found[1]}://{name}"


class RemoteFiles:
    """The files below `url`. Picklable, and cheap to create: connections are opened on first use.

    Args:
        url: A URL such as "s3://bucket/x".
        options: Options of the file system, in addition to fsspec's own configuration and the
            environment.

    Every method raises UnreachableError if a retry may succeed, another StorageError if not, and
    MissingPackageError if the package is missing.

    Raises:
        StorageError: `url` is not a URL of a file system, or its package is not installed.
    """

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        found = _URL.fullmatch(url)
        if found is None:
            raise StorageError(f'{url!r} is not a URL of a file system, such as "s3://bucket/folder"')
        self.protocol = found[1].lower()
        self.url = f"{self.protocol}://{found[2].rstrip('/')}"
        self.options = dict(options or {})

    @property
    def is_exclusive(self) -> bool:
        """Whether `create` detects that another writer was faster."""
        return self.protocol in _EXCLUSIVE

    def below(self, name: str) -> RemoteFiles:
        """Return the files below the folder `name`."""
        return RemoteFiles(joined(self.url, name), self.options)

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file; None if it does not exist."""
        with self._told("read", name):
            fs, root = self._opened()
            fs.invalidate_cache()
            try:
                data: bytes = fs.cat_file(f"{root}/{name}")
            except FileNotFoundError:
                return None
            return data

    def read_all(self, names: Sequence[str]) -> list[bytes]:
        """Return the contents of several files, which must exist."""
        if not names:
            return []
        with self._told("read"):
            fs, root = self._opened()
            paths = [f"{root}/{name}" for name in names]
            if len(paths) == 1:
                return [fs.cat_file(paths[0])]
            found: dict[str, bytes] = fs.cat(paths)
            by_name = {path.strip("/"): data for path, data in found.items()}
            return [by_name[path.strip("/")] for path in paths]

    def write(self, name: str, data: bytes) -> None:
        """Write `data` to a file, replacing its contents."""
        with self._told("written", name):
            fs, root = self._opened()
            path = f"{root}/{name}"
            self._make_folder(fs, path)
            fs.pipe_file(path, data)

    def create(self, name: str, data: bytes) -> bool:
        """Write a new file; return False, without writing, if the file exists.

        This is atomic only if `is_exclusive`; otherwise another writer may come between.

        Raises:
            UnreachableError: The storage does not answer, or another writer is writing.
            StorageError: The storage refuses.
        """
        with self._told("written", name):
            fs, root = self._opened()
            path = f"{root}/{name}"
            self._make_folder(fs, path)
            try:
                if self.protocol in ("file", "local"):
                    with fs.open(path, "xb") as file:
                        file.write(data)
                else:
                    fs.pipe_file(path, data, mode="create")
            except FileExistsError:
                return False
            except Exception as error:
                code = _code(error)
                if code in ("PreconditionFailed", "412"):
                    return False
                if code in ("ConditionalRequestConflict", "409"):
                    raise UnreachableError(f"{joined(self.url, name)}: {error}") from error
                raise
            return True

    def write_all(self, files: Mapping[str, bytes]) -> None:
        """Write several files, replacing their contents."""
        if files:
            with self._told("written"):
                fs, root = self._opened()
                for name in {name.rpartition("/")[0] for name in files}:
                    self._make_folder(fs, f"{root}/{name}/x" if name else f"{root}/x")
                fs.pipe({f"{root}/{name}": data for name, data in files.items()})

    def upload(self, files: Mapping[str, Path]) -> None:
        """Copy local files here, under the given names."""
        if files:
            with self._told("written"):
                fs, root = self._opened()
                for name in {name.rpartition("/")[0] for name in files}:
                    self._make_folder(fs, f"{root}/{name}/x" if name else f"{root}/x")
                fs.put([str(path) for path in files.values()], [f"{root}/{name}" for name in files])

    def download(self, files: Mapping[str, Path]) -> None:
        """Copy files to this machine, by their names; the target folders must exist."""
        if files:
            with self._told("read"):
                fs, root = self._opened()
                fs.get([f"{root}/{name}" for name in files], [str(path) for path in files.values()])

    def copy(self, names: Sequence[str], to: RemoteFiles) -> None:
        """Copy files to another place on the same file system."""
        if names:
            with self._told("copied"):
                fs, root = self._opened()
                target = to._opened()[1]
                for name in names:
                    self._make_folder(fs, f"{target}/{name}")
                fs.copy([f"{root}/{name}" for name in names], [f"{target}/{name}" for name in names])

    def remove(self, names: Iterable[str]) -> None:
        """Delete files, in this order; missing files are ignored."""
        with self._told("deleted"):
            fs, root = self._opened()
            for name in names:
                try:
                    fs.rm_file(f"{root}/{name}")
                except FileNotFoundError:
                    pass

    def sizes(self, below: str = "") -> dict[str, int]:
        """Return the size in bytes of each file below the folder `below`, by name, sorted."""
        with self._told("listed"):
            fs, root = self._opened()
            fs.invalidate_cache()
            where = f"{root}/{below}" if below else root
            try:
                found = fs.find(where, detail=True)
            except FileNotFoundError:
                return {}
            start = len(root.strip("/")) + 1
            return {
                path.strip("/")[start:]: int(facts.get("size") or 0)
                for path, facts in sorted(found.items())
                if facts.get("type") == "file"
            }

    def folders(self) -> list[str]:
        """Return the names of the direct subfolders, sorted.

        Raises:
            StorageError: The bucket does not exist, or the storage does not answer; a folder may be missing.
        """
        with self._told("listed"):
            fs, root = self._opened()
            fs.invalidate_cache()
            try:
                found = fs.ls(root, detail=True)
            except FileNotFoundError as error:
                if _code(error) == "NoSuchBucket":
                    raise
                return []
            return sorted(
                one["name"].rstrip("/").rpartition("/")[2] for one in found if one["type"] == "directory"
            )

    def import_packages(self) -> None:
        """Import the packages that the file system needs, which may take a second."""
        try:
            import fsspec

            fsspec.get_filesystem_class(self.protocol)
        except ImportError as error:
            raise missing(self.protocol, error) from error

    # --- parts -------------------------------------------------------------------------

    def _opened(self) -> tuple[Any, str]:
        """Return the file system and the path of `url` on it; fsspec caches one per process and thread."""
        try:
            import fsspec
            from fsspec.core import url_to_fs

            fs, root = url_to_fs(self.url, **self._timeouts(fsspec), **self.options)
        except ImportError as error:
            raise missing(self.protocol, error) from error
        except ValueError as error:
            raise StorageError(f"{self.url} cannot be used: {error}") from error
        return fs, root.rstrip("/")

    def _timeouts(self, fsspec: Any) -> dict[str, Any]:
        """Return options with short timeouts: callers retry, and report failures."""
        if self.protocol not in ("s3", "s3a") or "config_kwargs" in self.options:
            return {}
        configured = fsspec.config.conf.get(self.protocol, {}).get("config_kwargs", {})
        return {"config_kwargs": {**_IMPATIENT, **configured}}

    def _make_folder(self, fs: Any, path: str) -> None:
        if self.protocol in ("s3", "s3a", "gs", "gcs", "memory"):
            return  # folders are parts of names there
        fs.makedirs(path.rpartition("/")[0], exist_ok=True)

    @contextmanager
    def _told(self, doing: str, name: str = "") -> Iterator[None]:
        try:
            yield
        except (StorageError, ImportError):
            raise
        except Exception as error:
            raise told(error, joined(self.url, name) if name else self.url, doing) from error


def _code(error: BaseException) -> str:
    """Return the service's own code for an error, as botocore and gcsfs store it."""
    response = getattr(error.__cause__, "response", None)
    if isinstance(response, dict):
        return str(response.get("Error", {}).get("Code", ""))
    return str(getattr(error, "code", ""))
