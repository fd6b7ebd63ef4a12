"""Writes a pack: into a new folder beside its place, which is renamed when all files are on the disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.errors import DamagedError, StorageError
from overtone.journal.text import dumps
from overtone.packs.contents import entries
from overtone.packs.sums import SUMS, sha256_of, to_lines
from overtone.regular_files import open_regular
from overtone.store.files import is_url
from overtone.store.local import MANIFEST, LocalStore, sync_folder
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.saving import staging

CHECKPOINT = "checkpoint"
CONFIG = "config.json"
PROVENANCE = "provenance.json"
FORMAT = 1


def write_pack(
    to: str | os.PathLike[str],
    config: Any,
    checkpoint: Checkpoint,
    provenance: Mapping[str, Any],
    home: str | os.PathLike[str] | None = None,
) -> str:
    """Write a pack whole or not at all; packs of the same contents are the same bytes.

    Args:
        to: The folder of the pack, on this machine. It may exist if it is empty.
        config: The config as JSON data.
        checkpoint: The checkpoint. Its directory may be in a store.
        provenance: Facts about the checkpoint, as JSON data.
        home: The folder of the experiment. A directory elsewhere is packed only if a store keeps it: the
            journal of a foreign experiment may name any directory.

    Returns:
        The sha256 of the pack, 64 hexadecimal digits.

    Raises:
        DamagedError: The checkpoint is damaged.
        StorageError: The folder exists, or cannot be written; nothing is left behind then.
    """
    given = os.fspath(to)
    if is_url(given):
        raise StorageError(
            f"a pack is written to a folder of this machine, not to {given}: copy that folder to the URL, "
            "where load_pack reads it"
        )
    target = Path(os.path.abspath(os.path.expanduser(given)))
    _check_free(target)
    if not target.parent.is_dir():
        raise StorageError(f"there is no folder {target.parent} for the pack {target.name}")
    try:
        with staging(target.parent) as folder, checkpoint.as_directory() as source:
            sums = _copy(_checked(Path(source), home), folder)
            for name, data in ((CONFIG, config), (PROVENANCE, {"format": FORMAT, **provenance})):
                sums[name] = _write(folder / name, f"{dumps(data)}\n".encode())
            digest = _write(folder / SUMS, to_lines(sums))
            for name, is_folder in entries(folder):
                if is_folder:
                    sync_folder(folder / name)
            sync_folder(folder)
            os.rename(folder, target)
            sync_folder(target.parent)
    except StorageError:
        raise
    except OSError as error:
        _check_free(target)  # another pack may have been there first
        where = f" ({error.filename})" if error.filename else ""
        raise StorageError(f"{target} was not written: {error.strerror or error}{where}") from error
    return digest


def _check_free(target: Path) -> None:
    """Raise if something is at the place of the pack, other than an empty folder."""
    is_folder = target.is_dir() and not target.is_symlink()
    if os.listdir(target) if is_folder else os.path.lexists(target):
        raise StorageError(f"{target} exists already: name a new folder for the pack")


def _checked(source: Path, home: str | os.PathLike[str] | None) -> Path:
    """Return the directory of a checkpoint, after a check of its files if a store keeps it."""
    if (source / MANIFEST).exists():
        return LocalStore(source.parent).get(str(source))
    if not source.is_dir():
        raise DamagedError(f"{source} is not there: it was deleted, or its folder was moved")
    if home is not None and Path(os.path.realpath(home)) not in Path(os.path.realpath(source)).parents:
        raise StorageError(
            f"{source} is not packed: it lies outside of {os.fspath(home)}, and no store put it there. Copy "
            "the checkpoint into the folder of its trial"
        )
    return source


def _copy(source: Path, folder: Path) -> dict[str, str]:
    """Copy a checkpoint; return the sha256 of each file by its name in the pack."""
    sums: dict[str, str] = {}
    (folder / CHECKPOINT).mkdir()
    for name, is_folder in entries(source):
        copied = f"{CHECKPOINT}/{name}"
        if is_folder:
            (folder / copied).mkdir()
        elif name != MANIFEST:  # SHA256SUMS replaces it
            with open_regular(source / name, follow_links=False) as file, open(folder / copied, "xb") as copy:
                sums[copied] = sha256_of(file, copy.write)
                copy.flush()
                os.fsync(copy.fileno())
    return sums


def _write(path: Path, data: bytes) -> str:
    """Write a file, and return its sha256."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(data).hexdigest()
