"""Where an experiment's results lie."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path

from overtone.errors import StorageError

DEFAULT = "~/overtone_results"


def prepare(storage: str | Path | None, name: str | None, trainable: str, now: datetime) -> tuple[Path, str]:
    """Make the experiment's folder.

    Args:
        storage: The parent folder; `~/overtone_results` when None.
        name: The folder's name; `<trainable>_<date>_<time>` when None.

    Returns:
        The folder, and a line about what was moved aside to make room for it, or "".

    Raises:
        StorageError: It cannot be made.
    """
    text = os.fspath(storage) if storage is not None else DEFAULT
    text = text.removeprefix("file://")
    if "://" in text:
        raise StorageError(
            f"storage_path={text!r}: this version writes to local folders; give a path such as {DEFAULT!r}"
        )
    root = Path(text).expanduser().absolute()
    stamp = f"{now:%Y-%m-%d_%H-%M-%S}"
    if name is not None and (name in ("", ".", "..") or re.search(r"[/\\\0]", name)):
        raise StorageError(f"name={name!r} must be the name of one folder, without slashes")
    folder = root / (name or f"{trainable}_{stamp}")
    moved = ""
    try:
        root.mkdir(parents=True, exist_ok=True)
        if name is None:
            folder = _fresh(folder)
        elif folder.exists() and any(folder.iterdir()):
            aside = _fresh(folder.with_name(f"{folder.name}.{stamp}"))
            folder.rename(aside)
            moved = f"{folder} was in use; its earlier results are now in {aside}"
        folder.mkdir(exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise StorageError(
            f"results cannot be written to {folder}: {error.strerror or error}. Give a folder that you may "
            'write to: tune.run(..., storage_path="/some/folder")'
        ) from None
    return folder, moved


def _fresh(folder: Path) -> Path:
    """`folder`, or with _2, _3, ... where that is taken."""
    candidate, n = folder, 1
    while candidate.exists():
        n += 1
        candidate = folder.with_name(f"{folder.name}_{n}")
    return candidate
