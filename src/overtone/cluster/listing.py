"""Describes experiments on the head for the machine that brings them back, and reads their journals there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.cluster.run_log import FOLLOWED
from overtone.regular_files import open_regular
from overtone.store.folder_mark import JOURNAL, LOCK
from overtone.store.leftovers import TRIAL

_CHUNK_BYTES = 1 << 20
WINDOW_BYTES = 1 << 16
"""The end of a copy that is compared before the copy grows."""


def describe(wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Describe experiments.

    Args:
        wanted: "folders", and for some of them in "sizes" the size of a copy of the journal.

    Returns:
        For each folder with a journal: `folder`, `path`, `size` (of the journal), `inode`, `first` (checksum
        of its first line), `prefix` (checksum of its first bytes, as many as the copy has, or None if it has
        fewer), `checkpoints` ("TRIAL/checkpoint_000010"), and `is_running`.
    """
    from overtone.journal.lock import is_locked

    found = []
    for folder in wanted["folders"]:
        path = Path(os.path.expanduser(folder))
        try:
            with open_regular(path / JOURNAL) as file:
                size = os.fstat(file.fileno()).st_size
                asked = wanted.get("sizes", {}).get(folder)
                prefix = None if asked is None or asked > size else checksum(path / JOURNAL, asked)
                inode = os.fstat(file.fileno()).st_ino
            first = first_line(path / JOURNAL)
        except (FileNotFoundError, NotADirectoryError):
            continue  # It was deleted. Other errors must not look so: the copy would count as whole.
        found.append(
            {
                "folder": folder, "path": str(path), "size": size, "inode": inode, "first": first,
                "prefix": prefix, "checkpoints": checkpoints(path), "is_running": is_locked(path / LOCK),
            }
        )  # fmt: skip
    return found


def checkpoints(folder: Path) -> list[str]:
    """Return the checkpoints of an experiment's trials, below its folder."""
    found = []
    for trial in _folders(folder):
        if TRIAL.fullmatch(trial):
            names = _folders(folder / trial)
            found += [f"{trial}/{name}" for name in names if name.startswith("checkpoint_")]
    return sorted(found)


def checksum(path: Path, n_bytes: int, begin: int = 0) -> int:
    """Return the CRC-32 of `n_bytes` of a file."""
    crc = 0
    with open_regular(path) as file:
        file.seek(begin)
        while n_bytes > 0 and (data := file.read(min(_CHUNK_BYTES, n_bytes))):
            crc, n_bytes = crc32(data, crc), n_bytes - len(data)
    return crc


def first_line(journal: Path) -> int:
    """Return the checksum of a journal's first line, which tells experiments apart."""
    with open_regular(journal) as file:
        return crc32(file.readline(1 << 24))


def write_journal(path: str, offset: int, crc: int) -> None:
    """Write the whole lines of a journal from `offset` to standard output.

    They follow a line with the offset of their first byte. It is 0 if the journal before `offset` differs
    from the copy: a writer may take back the torn end that a crash left.

    Args:
        crc: Checksum of the copy's last `WINDOW_BYTES` before `offset`, or of all of them.
    """
    journal = Path(os.path.expanduser(path))
    with open_regular(journal) as file:
        size = os.fstat(file.fileno()).st_size
        begin = max(0, offset - WINDOW_BYTES)
        if offset > size or checksum(journal, offset - begin, begin) != crc:
            offset = 0
        os.write(1, FOLLOWED + b"%d\n" % offset)
        file.seek(offset)
        n_bytes = _whole_lines(journal, offset, size)
        while n_bytes > 0 and (data := file.read(min(_CHUNK_BYTES, n_bytes))):
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]
            n_bytes -= len(data)


def _whole_lines(journal: Path, offset: int, size: int) -> int:
    """Return how many bytes there are from `offset` to the end of the last whole line."""
    with open_regular(journal) as file:
        end = size
        while end > offset:
            begin = max(offset, end - _CHUNK_BYTES)
            file.seek(begin)
            place = file.read(end - begin).rfind(b"\n")
            if place >= 0:
                return begin + place + 1 - offset
            end = begin
    return 0


def _folders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []  # Other errors must not look like deleted checkpoints, which are deleted in the copy.
