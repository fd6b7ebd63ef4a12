"""A journal at a URL -> the same on this machine."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.errors import StorageError
from overtone.journal.lock import WriterLock
from overtone.journal.reader import Lines
from overtone.journal.segments import Segment, segments
from overtone.regular_files import open_regular
from overtone.store.cache import local_folder, note_origin

if TYPE_CHECKING:
    from overtone.store.files import RemoteFiles

JOURNAL = "journal.jsonl"

_AT_ONCE = 64  # so many pieces are in memory
_CHUNK_BYTES = 1 << 20


def fetch(url: str) -> Path:
    """The local folder of the experiment at `url`, whose journal holds at least what is there.

    Only what this machine lacks is copied. Records that are only here, since their driver
    could not mirror them any more, stay; if another driver went on from the URL meanwhile,
    the folder with them is moved aside.

    Raises:
        StorageError: There is no experiment, or its journal is damaged.
    """
    from overtone.store.files import RemoteFiles

    files, folder = RemoteFiles(url), local_folder(url.rstrip("/"))
    chain = segments(files)
    if not chain:
        raise StorageError(f"there is no experiment at {url}: it holds {_listed(files)}")
    journal = folder / JOURNAL
    size = journal.stat().st_size if journal.exists() else 0
    kept = _kept(journal, size, chain, files)
    if kept and kept == len(chain):
        note_origin(folder, files.url)
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    new = folder.with_name(f".{folder.name}-{os.getpid()}-{os.urandom(4).hex()}")
    lock = WriterLock(journal.with_name(f"{JOURNAL}.lock"))
    try:
        _build(new, journal, chain, kept, files)
        if size and not _goes_on(journal, new, chain[kept - 1].end if kept else 0):
            folder.rename(_aside(folder))
            folder.mkdir()
        os.replace(new, journal)
        note_origin(folder, files.url)
    finally:
        lock.release()
        new.unlink(missing_ok=True)
    return folder


def _kept(journal: Path, size: int, chain: list[Segment], files: RemoteFiles) -> int:
    """How many pieces this machine has already: the last of them is compared."""
    count = sum(one.end <= size for one in chain)
    if not count:
        return 0
    last = chain[count - 1]
    with open_regular(journal) as file:
        file.seek(last.begin)
        return count if file.read(last.end - last.begin) == files.read(last.name) else 0


def _build(new: Path, journal: Path, chain: list[Segment], kept: int, files: RemoteFiles) -> None:
    """Write the journal that is at the URL, and check all of it; `kept` pieces are taken from here."""
    with open(new, "wb") as out:
        if kept:
            left = chain[kept - 1].end
            with open_regular(journal) as file:
                while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
                    left -= out.write(chunk)
        for begin in range(kept, len(chain), _AT_ONCE):
            for data in files.read_all([one.name for one in chain[begin : begin + _AT_ONCE]]):
                out.write(data)
    try:
        for _ in Lines(new, tail="error"):
            pass
    except StorageError as error:
        raise StorageError(f"the journal at {files.url} is damaged: {error}") from error


def _goes_on(journal: Path, new: Path, offset: int) -> bool:
    """Whether `new` has all the whole lines that `journal` has behind `offset`."""
    with open_regular(journal) as file, open_regular(new) as other:
        file.seek(offset)
        other.seek(offset)
        data = file.read()  # what a driver could not mirror any more: not much
        whole = data[: data.rfind(b"\n") + 1]
        return other.read(len(whole)) == whole


def _aside(folder: Path) -> Path:
    stem = f"{folder.name}.{time.strftime('%Y-%m-%d_%H-%M-%S')}"
    candidate, n = folder.with_name(stem), 1
    while candidate.exists():
        n += 1
        candidate = folder.with_name(f"{stem}_{n}")
    return candidate


def _listed(files: RemoteFiles) -> str:
    names = files.folders()
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "nothing"
