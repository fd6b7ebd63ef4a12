"""Reads a pack after a check of all its files; nothing in it is executed or unpickled."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overtone.errors import DamagedError, StorageError
from overtone.journal.text import loads
from overtone.packs.contents import entries
from overtone.packs.sums import LARGEST_BYTES, SUMS, from_lines, sha256_of
from overtone.packs.writing import CHECKPOINT, CONFIG, FORMAT, PROVENANCE
from overtone.regular_files import open_regular
from overtone.space.nesting import with_tuples
from overtone.store.files import RemoteFiles, is_url
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.temporary_folders import temporary_folder


@dataclass(frozen=True)
class Pack:
    """A checked pack.

    Attributes:
        path: Its folder on this machine.
        config: The config of the trial. A value that is not data, such as a class, is there as
            `{"__opaque__": "its description"}`.
        checkpoint: The checkpoint.
        provenance: Where the checkpoint comes from: `experiment`, `trial_id`, `record` (its number in the
            journal), `training_iteration`, `metric`, `mode`, `value`, `versions`, `files` (the sha256 of each
            file by name), and further facts; see docs/serving.md.
        sha256: The sha256 of the whole pack.
    """

    path: str
    config: dict[str, Any]
    checkpoint: Checkpoint
    provenance: dict[str, Any]
    sha256: str


def load_pack(path: str | os.PathLike[str], sha256: str | None = None) -> Pack:
    """Check a pack that `overtone pack` or `analysis.pack` wrote, and return its contents.

    Nothing in the pack is executed or unpickled. The check covers the files as they are now: a program
    that may write to the folder can change the checkpoint afterwards.

    Args:
        path: The folder, or a URL with a copy of the folder. From a URL, the files are copied to a
            temporary folder, which is deleted at the end of this process.
        sha256: The sha256 of the whole pack, which `overtone pack` printed. Without it, a pack whose
            files were all replaced is not detected.

    Raises:
        DamagedError: A file is missing, added or changed, or its name leads out of the folder; the message
            names the file.
        StorageError: There is no pack, it has a link, it cannot be read, or a newer version wrote it.
        MissingPackageError: The package for the URL is missing.
    """
    given = os.fspath(path)
    if is_url(given):
        return _checked(Path(_fetched(given, sha256)), given, sha256)
    return _checked(Path(os.path.abspath(os.path.expanduser(given))), given, sha256)


def _checked(folder: Path, given: str, expected: str | None) -> Pack:
    """Return the pack in a folder; `given` is its name in errors."""
    try:
        listed = _read(folder / SUMS, given)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _no_pack(given) from error
    digest = hashlib.sha256(listed).hexdigest()
    _check_expected(digest, expected, given)
    sums = from_lines(listed, given)
    try:
        _check_names(sums, (name for name, is_folder in entries(folder) if not is_folder), given)
        for name, wanted in sums.items():
            with open_regular(folder / name, follow_links=False) as file:
                if sha256_of(file) != wanted:
                    raise DamagedError(f"{given} is damaged: {name} is not the file that was packed")
        config, provenance = (_json(folder, name, sums, given) for name in (CONFIG, PROVENANCE))
        is_whole = (folder / CHECKPOINT).is_dir()
    except RecursionError as error:
        raise DamagedError(f"{given} is refused: its folders are nested too deeply") from error
    except FileNotFoundError as error:
        raise DamagedError(f"{given} changed while it was read: {error.filename} is missing") from error
    if not is_whole:
        raise DamagedError(f"{given} is damaged: the folder {CHECKPOINT} is missing")
    if provenance.pop("format", None) != FORMAT:
        raise StorageError(f"{given} was packed by a newer version of Overtone")
    checkpoint = Checkpoint(folder / CHECKPOINT)
    return Pack(str(folder), config, checkpoint, {**provenance, "files": sums}, digest)


def _fetched(url: str, expected: str | None) -> str:
    """Copy the files of a pack to a new temporary folder, and return the folder."""
    there = RemoteFiles(url)
    listed = there.read(SUMS)
    if listed is None:
        raise _no_pack(url)
    _check_expected(hashlib.sha256(listed).hexdigest(), expected, url)
    sums = from_lines(listed, url)
    _check_names(sums, there.sizes(), url)
    folder = temporary_folder()
    Path(folder, CHECKPOINT).mkdir()  # Of an empty checkpoint there is no file at the URL.
    targets = {name: Path(folder, name) for name in (*sums, SUMS)}
    for target in targets.values():
        target.parent.mkdir(parents=True, exist_ok=True)
    there.download(targets)
    return folder


def _check_expected(digest: str, expected: str | None, pack: str) -> None:
    if expected is not None and expected.lower() != digest:
        raise DamagedError(f"{pack} is not the expected pack: its sha256 is {digest}, not {expected}")


def _check_names(sums: Iterable[str], found: Iterable[str], pack: str) -> None:
    """Compare the names in `SHA256SUMS` with the files that are there."""
    wanted, there = {*sums, SUMS}, set(found)
    for name in sorted({*wanted, CONFIG, PROVENANCE} - there):
        raise DamagedError(f"{pack} is damaged: {name} is missing")
    for name in sorted({*there} - wanted):
        raise DamagedError(f"{pack} is refused: {name} was not packed, it is not in {SUMS}")


def _json(folder: Path, name: str, sums: dict[str, str], pack: str) -> dict[str, Any]:
    """Return the object in a JSON file, from the bytes that have the file's sha256."""
    data = _read(folder / name, pack)
    if hashlib.sha256(data).hexdigest() != sums.get(name):
        raise DamagedError(f"{pack} is damaged: {name} is not the file that was packed")
    try:
        value = with_tuples(loads(data.decode()))
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedError(f"{pack} is damaged: {name} is not the JSON of a pack ({error})") from error
    if type(value) is not dict:
        raise DamagedError(f"{pack} is damaged: {name} is not a JSON object")
    return value


def _read(path: Path, pack: str) -> bytes:
    """Return the contents of a file of limited size.

    Raises:
        StorageError: It is too large, or not a regular file.
        OSError: It cannot be read.
    """
    with open_regular(path, follow_links=False) as file:
        data = file.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise DamagedError(f"{pack} is refused: {path.name} has more than {LARGEST_BYTES} bytes")
    return data


def _no_pack(given: str) -> StorageError:
    return StorageError(f"{given} is not a pack: it has no {SUMS}. Write one with overtone pack")
