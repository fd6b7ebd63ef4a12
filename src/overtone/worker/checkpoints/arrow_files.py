"""Checkpoints on a file system of pyarrow, which the user passes with the path."""

from __future__ import annotations

from typing import Any

from overtone.errors import MissingPackageError, StorageError


def is_elsewhere(filesystem: Any) -> bool:
    """Return whether paths of a pyarrow file system are not paths on this machine."""
    return filesystem is not None and getattr(filesystem, "type_name", "") != "local"


def local_filesystem() -> Any:
    """Return the local file system of pyarrow.

    Raises:
        MissingPackageError: pyarrow is not installed.
    """
    return _arrow().LocalFileSystem()


def download(filesystem: Any, path: str, target: str) -> None:
    """Copy the directory `path` into the existing directory `target` on this machine.

    Raises:
        StorageError: There is no such directory, or it cannot be read.
    """
    fs = _arrow()
    try:
        if filesystem.get_file_info(path).type != fs.FileType.Directory:
            raise StorageError(f"there is no directory {path!r} on {filesystem.type_name!r}")
        fs.copy_files(path, target, source_filesystem=filesystem, destination_filesystem=fs.LocalFileSystem())
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"checkpoint {path!r} cannot be copied: {error}") from error


def read(filesystem: Any, path: str) -> bytes | None:
    """Return the contents of a file; None if it does not exist."""
    if filesystem.get_file_info(path).type != _arrow().FileType.File:
        return None
    with filesystem.open_input_stream(path) as file:
        return bytes(file.readall())


def write(filesystem: Any, path: str, data: bytes) -> None:
    """Write a file, replacing its contents."""
    with filesystem.open_output_stream(path) as file:
        file.write(data)


def _arrow() -> Any:
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingPackageError("pyarrow", "", "a pyarrow file system") from None
    return fs
