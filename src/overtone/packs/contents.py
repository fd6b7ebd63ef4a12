"""The files and folders of a directory tree without links."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from overtone.errors import StorageError


def entries(folder: Path, above: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the name of each file and folder below `folder`, and whether it is a folder.

    Names have "/" between their parts. A folder comes before its contents.

    Raises:
        StorageError: Something there is neither a file nor a folder, such as a link.
        OSError: A folder cannot be read.
    """
    with os.scandir(folder) as found:
        listed = sorted(found, key=lambda one: one.name)
    for entry in listed:
        name = f"{above}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield name, True
            yield from entries(folder / entry.name, f"{name}/")
        elif entry.is_file(follow_symlinks=False):
            yield name, False
        else:
            kind = "a link" if entry.is_symlink() else "not a regular file"
            raise StorageError(f"{entry.path} is {kind}, and a pack has files and folders alone")
