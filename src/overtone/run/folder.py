"""Where an experiment's results lie: a folder of this machine, which may be mirrored to a URL."""

from __future__ import annotations

import os
import re
from datetime import datetime
from itertools import count
from pathlib import Path

from overtone.errors import StorageError
from overtone.run.loop import warn
from overtone.run.place import AT_START_S, JOURNAL, PATIENCE_S, Place, patiently
from overtone.store.files import RemoteFiles, is_url

DEFAULT = "~/overtone_results"


def root_of(storage: str | Path | None) -> Path:
    """The folder of this machine in which experiments lie; for a URL, their local parts."""
    text = os.fspath(storage) if storage is not None else DEFAULT
    if is_url(text):
        from overtone.store.cache import local_folder

        return local_folder(text)
    return Path(text.removeprefix("file://")).expanduser().absolute()


def bring(storage: str | Path | None, name: str | None, trainable: str) -> None:
    """Bring what a resume may mean to this machine, where `storage` is a URL.

    Args:
        name: The experiment; None for the newest few of `trainable`.
    """
    if storage is None or not is_url(os.fspath(storage)):
        return
    from overtone.journal.fetching import fetch

    files = RemoteFiles(os.fspath(storage))
    names = patiently(files.folders)
    wanted = [name] if name is not None else [one for one in names if one.startswith(f"{trainable}_2")][-3:]
    for one in wanted:
        there = files.below(one)
        if one in names and patiently(lambda there=there: there.sizes("journal")):  # type: ignore[misc]
            patiently(lambda there=there: fetch(there.url))  # type: ignore[misc]


def locate(where: str | Path) -> Path:
    """The folder of this machine with the experiment at a path or URL, whose journal is brought here.

    Raises:
        StorageError: There is none at that URL.
    """
    text = os.fspath(where)
    if is_url(text):
        from overtone.journal.fetching import fetch

        return patiently(lambda: fetch(text))
    return Path(text.removeprefix("file://")).expanduser().absolute()


def holds_experiment(where: str | Path) -> bool:
    """Whether there is an experiment at a path or URL."""
    text = os.fspath(where)
    if is_url(text):
        return bool(patiently(lambda: RemoteFiles(text).sizes("journal")))
    return (Path(text.removeprefix("file://")).expanduser() / JOURNAL).exists()


def prepare(
    storage: str | Path | None,
    name: str | None,
    trainable: str,
    now: datetime,
    engine: str = "Inline",
    patience_s: float = PATIENCE_S,
) -> Place:
    """Make the place of an experiment that begins.

    Args:
        storage: The parent folder, or the URL of one; `~/overtone_results` when None.
        name: The folder's name; `<trainable>_<date>_<time>` when None.
        engine: What runs the trials.
        patience_s: How long a place at a URL may be away.

    Raises:
        StorageError: It cannot be made, or another driver writes there.
    """
    root = root_of(storage)
    stamp = f"{now:%Y-%m-%d_%H-%M-%S}"
    if name is not None and (name in ("", ".", "..") or re.search(r"[/\\\0]", name)):
        raise StorageError(f"name={name!r} must be the name of one folder, without slashes")
    url = os.fspath(storage) if storage is not None else ""
    if not is_url(url):
        return Place(*_folder(root, name, f"{trainable}_{stamp}", stamp))
    from overtone.run.claim import check_reach, claim
    from overtone.store.cache import note_origin

    check_reach(url, engine)
    files, lease, moved = claim(RemoteFiles(url), name, f"{trainable}_{stamp}", stamp)
    try:
        folder, _ = _folder(root, files.url.rpartition("/")[2], "", stamp)
        note_origin(folder, files.url)  # before the journal: whoever resumes must know
    except BaseException:
        lease.release()
        raise
    lease.keep()
    return Place(folder, moved, files.url, patience_s, lease)


def reopen(folder: Path, engine: str = "Inline", patience_s: float = PATIENCE_S) -> Place:
    """The place of an experiment that goes on; one that belongs to a URL is mirrored there again.

    Raises:
        StorageError: Another driver writes there.
    """
    from overtone.store.cache import origin

    url = origin(folder)
    if url is None:
        return Place(folder)
    from overtone.run.claim import check_reach
    from overtone.store.lease import Lease

    check_reach(url, engine)
    lease = Lease.acquire(RemoteFiles(url), patience_s=AT_START_S, say=warn)
    lease.keep()
    return Place(folder, "", url, patience_s, lease)


# --- on this machine ------------------------------------------------------------------------


def _folder(root: Path, name: str | None, made_up: str, stamp: str) -> tuple[Path, str]:
    """The experiment's folder, empty, and a line about what was moved aside."""
    folder = root / (name or made_up)
    moved = ""
    try:
        root.mkdir(parents=True, exist_ok=True)
        if name is None:
            folder = _fresh(folder)
        elif folder.exists() and any(folder.iterdir()):
            aside = _fresh(folder.with_name(f"{folder.name}.{stamp}"))
            _move(folder, aside)
            moved = f"{folder} was in use; its earlier results are now in {aside}" + _unfinished(aside)
        folder.mkdir(exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except StorageError:  # which is an OSError too, and says more
        raise
    except OSError as error:
        raise StorageError(
            f"results cannot be written to {folder}: {error.strerror or error}. Give a folder that you may "
            'write to: tune.run(..., storage_path="/some/folder")'
        ) from None
    return folder, moved


def _unfinished(aside: Path) -> str:
    """What to do about an experiment that was moved aside before it had come to its end, or ""."""
    from overtone.run.found import is_begun, is_finished

    if not is_begun(aside) or is_finished(aside):
        return ""
    return (
        f'. It is unfinished: `overtone resume {aside}` goes on with it; resume="AUTO" does without moving it'
    )


def _move(folder: Path, aside: Path) -> None:
    """Rename, unless a driver is at work in it."""
    from overtone.journal.lock import WriterLock

    lock = WriterLock(folder / f"{JOURNAL}.lock")
    try:
        folder.rename(aside)
    finally:
        lock.release()


def _fresh(folder: Path) -> Path:
    """`folder`, or with _2, _3, ... where that is taken."""
    return next(one for n in count(1) if not (one := _numbered(folder, n)).exists())


def _numbered(folder: Path, n: int) -> Path:
    return folder if n == 1 else folder.with_name(f"{folder.name}_{n}")
