"""The local folder that belongs to a URL; its path resembles the URL."""

from __future__ import annotations

import re
from pathlib import Path

from overtone.cache_folder import cache_folder
from overtone.errors import StorageError
from overtone.regular_files import read_regular
from overtone.store.files import protocol_of

FETCHED = ".fetched"
"""Subfolder with fetched checkpoints. No trial's name begins with a dot."""

_ORIGIN = ".url"


def local_folder(url: str) -> Path:
    """Return the local folder for `url`: "s3://bucket/x" -> "~/.cache/overtone/s3/bucket/x".

    The folder is in the user's cache folder.

    Raises:
        StorageError: The URL has "." or ".." as a part.
    """
    rest = url.partition("://")[2].partition("@")[2] or url.partition("://")[2]  # without passwords
    parts = [part for part in rest.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise StorageError(f"{url!r} must not have {'..'!r} or {'.'!r} in it")
    return Path(cache_folder(), protocol_of(url), *(re.sub(r"[^\w.=+ -]", "_", part) for part in parts))


def origin(folder: Path) -> str | None:
    """Return the URL that `folder` is the local part of; None if it belongs to no URL."""
    try:
        return read_regular(folder / _ORIGIN).decode().strip() or None
    except OSError:
        return None


def forget_origin(folder: Path) -> None:
    """Undo `note_origin`."""
    (folder / _ORIGIN).unlink(missing_ok=True)


def note_origin(folder: Path, url: str) -> None:
    """Note the URL that `folder` is the local part of."""
    (folder / _ORIGIN).write_text(f"{url}\n", "utf-8")
