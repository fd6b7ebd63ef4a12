"""Download of a journal at a URL to this machine."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO

from overtone import standard_streams
from overtone.errors import StorageError
from overtone.journal.lock import WriterLock
from overtone.journal.reader import Lines
from overtone.journal.segments import Segment, segments
from overtone.regular_files import open_regular
from overtone.store.cache import forget_origin, local_folder, note_origin, origin
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.store.files import RemoteFiles


_AT_ONCE = 64  # most pieces in memory
_PATIENCE_S = 10.0  # longest wait for another process that fetches the same journal
_CHUNK_BYTES = 1 << 20


def fetch(url: str, lock: WriterLock | None = None, say: Callable[[str], None] | None = None) -> Path:
    """Return the local folder of the experiment at `url`, with a journal that is up to date.

    Only pieces that this machine lacks are copied. Local records that their driver could not mirror any
    more are kept. If another driver has resumed from the URL meanwhile, the folder with these records is
    renamed, and a line says so.

    Args:
        lock: The local folder's lock, if the caller holds it; None to take it if needed.
        say: Called with the line about a renamed folder; None for stderr.

    Raises:
        StorageError: There is no experiment at `url`, or its journal is damaged.
    """
    from overtone.store.files import RemoteFiles

    files, folder = RemoteFiles(url), local_folder(url.rstrip("/"))
    chain = segments(files)
    if not chain:
        raise StorageError(f"there is no experiment at {url}: it holds {_listed(files)}")
    journal = folder / JOURNAL
    if lock is not None:
        _bring(journal, chain, files, lock, say or standard_streams.say)
    elif _kept(journal, chain, files) < len(chain) or origin(folder) != files.url:
        folder.mkdir(parents=True, exist_ok=True)
        own = WriterLock(journal.with_name(f"{JOURNAL}.lock"), _PATIENCE_S)
        try:
            _bring(journal, chain, files, own, say or standard_streams.say)
        finally:
            own.release()
    return folder


def _bring(
    journal: Path, chain: list[Segment], files: RemoteFiles, lock: WriterLock, say: Callable[[str], None]
) -> None:
    """Bring `journal`, which no other process may write meanwhile, up to date with `chain`."""
    folder = journal.parent
    kept = _kept(journal, chain, files)
    if kept < len(chain):
        new = folder.with_name(f".{folder.name}-{os.getpid()}-{os.urandom(4).hex()}")
        try:
            if kept and journal.stat().st_size == chain[kept - 1].end:
                _extend(new, journal, chain, kept, files)
                note_origin(folder, files.url)
                return
            _build(new, journal, chain, kept, files)
            if journal.exists() and not _goes_on(journal, new, chain[kept - 1].end if kept else 0):
                _move_aside(folder, chain[-1].fence, files, lock, say)
            os.replace(new, journal)
        finally:
            new.unlink(missing_ok=True)
    note_origin(folder, files.url)


def _move_aside(
    folder: Path, fence: int, files: RemoteFiles, lock: WriterLock, say: Callable[[str], None]
) -> None:
    """Rename the folder with records that are not at the URL, so that it is a separate experiment."""
    from overtone.store.lease import writer_of

    aside = _aside(folder)
    lock.move_folder(aside)
    forget_origin(aside)
    say(
        f"{writer_of(files, fence)} took over {files.url} and went on without the last records of the driver "
        f"that wrote {folder}: that folder is now {aside}, and {folder} follows the URL. To look at those "
        f"records: overtone show {quote(str(aside))}"
    )


def _kept(journal: Path, chain: list[Segment], files: RemoteFiles) -> int:
    """Return how many pieces this machine already has; the last one is compared."""
    size = journal.stat().st_size if journal.exists() else 0
    count = sum(one.end <= size for one in chain)
    if not count:
        return 0
    last = chain[count - 1]
    with open_regular(journal) as file:
        file.seek(last.begin)
        return count if file.read(last.end - last.begin) == files.read(last.name) else 0


def _build(new: Path, journal: Path, chain: list[Segment], kept: int, files: RemoteFiles) -> None:
    """Write the journal of the URL to `new`, with `kept` pieces from this machine, and verify it."""
    with open(new, "wb") as out:
        if kept:
            left = chain[kept - 1].end
            with open_regular(journal) as file:
                while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
                    left -= out.write(chunk)
        _download(chain[kept:], files, out)
    _verify(new, 0, files)


def _extend(new: Path, journal: Path, chain: list[Segment], kept: int, files: RemoteFiles) -> None:
    """Append the pieces that this machine lacks to `journal`, once they are verified in `new`.

    A journal that is looked at every few seconds is not copied and verified as a whole each time.
    """
    last = chain[kept - 1]
    with open(new, "wb") as out:
        out.write(b"\n")  # Lines that are not read from byte 0 may have any first number.
        with open_regular(journal) as file:
            file.seek(last.begin)
            out.write(file.read(last.end - last.begin))
        begin = out.tell()
        _download(chain[kept:], files, out)
    _verify(new, 1, files)
    with open(new, "rb") as source, open(journal, "ab") as target:
        source.seek(begin)
        shutil.copyfileobj(source, target, _CHUNK_BYTES)


def _download(pieces: list[Segment], files: RemoteFiles, out: BinaryIO) -> None:
    for begin in range(0, len(pieces), _AT_ONCE):
        for data in files.read_all([one.name for one in pieces[begin : begin + _AT_ONCE]]):
            out.write(data)


def _verify(path: Path, offset: int, files: RemoteFiles) -> None:
    """Check the lines of a file from a byte on."""
    try:
        for _ in Lines(path, offset, tail="error"):
            pass
    except StorageError as error:
        raise StorageError(f"the journal at {files.url} is damaged: {error}") from error


def _goes_on(journal: Path, new: Path, offset: int) -> bool:
    """Return whether `new` contains all whole lines of `journal` after `offset`."""
    with open_regular(journal) as file, open_regular(new) as other:
        file.seek(offset)
        other.seek(offset)
        data = file.read()  # records that a driver could not mirror any more: few
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
