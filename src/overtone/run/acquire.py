"""Takes an experiment's folder: one step for new and resumed runs, on this machine and at a URL.

The order is the same for every driver:

1. the lease, if the experiment lies at a URL (`store/lease.py`);
2. the lock file in the folder on this machine, which must be the file at that path (`journal/lock.py`);
3. the journal at the URL is brought into the folder;
4. the contents of the folder now decide whether an experiment is resumed.

From then on only this driver creates, moves and deletes files in the folder, and writes the journal, until
`ResultsPlace.give_back`. `make_room` moves an earlier experiment aside, once nothing else can fail. A
folder that holds a lock file alone, or a journal without a whole first line, is not an experiment.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from itertools import count
from pathlib import Path

from overtone.errors import OvertoneError, StorageError
from overtone.journal.lock import LockHeldError, WriterLock
from overtone.run.resume.target import Wish, find, is_begun, is_finished
from overtone.run.storage.location import bring, root_of
from overtone.run.storage.results_place import AT_START_S, PATIENCE_S, ResultsPlace, patiently
from overtone.standard_streams import say
from overtone.store.cache import forget_origin, local_folder, note_origin, origin
from overtone.store.files import RemoteFiles, is_url, joined, protocol_of
from overtone.store.folder_mark import JOURNAL, LOCK
from overtone.store.lease import Lease, LeaseHeldError

_READERS_S = 10.0
"""Seconds to wait for a lock under a lease: a reader may be copying the journal to this machine."""

_MOST_TRIES = 100
_NEW = Wish()


def acquire(
    storage: str | Path | None,
    name: str | None,
    trainable: str,
    now: datetime,
    asked: Wish = _NEW,
    nth: int = 0,
    isolates: bool = False,
    patience_s: float = PATIENCE_S,
) -> ResultsPlace:
    """Take the folder of a new or resumed experiment; `goes_on` says which.

    Args:
        storage: The parent folder, or the URL of one; `~/overtone_results` when None.
        name: The folder's name; `<trainable>_<date>_<time>` when None.
        trainable: The trainable's name.
        now: Dates the folder of an experiment without a name.
        asked: The user's value of `resume`.
        nth: Number of experiments that this process began before.
        isolates: Whether trials run in other processes.
        patience_s: Seconds that a place at a URL may be unreachable.

    Raises:
        StorageError: The folder cannot be created, or another driver holds it; the message names it.
        OvertoneError: The experiment to resume does not exist.
    """
    if name is not None and (name in ("", ".", "..") or re.search(r"[/\\\0]", name)):
        raise StorageError(f"name={name!r} must be the name of one folder, without slashes")
    text = os.fspath(storage) if storage is not None else ""
    url, root = text if is_url(text) else None, root_of(storage)
    if url is not None:
        _check_reach(url, isolates)
        if asked.kind == "must" or (asked.kind == "auto" and name is None):
            bring(url, name, trainable)
    while True:
        found, hint = find(root, name, trainable, asked, nth)
        if found is None and name is None:
            place = _unnamed(root, url, f"{trainable}_{now:%Y-%m-%d_%H-%M-%S}", patience_s)
            place.moved = hint
            return place
        folder = found or root / str(name)
        may_go_on = found is not None or asked.kind != "no"
        is_named = name is not None and folder == root / name
        try:
            place = _taken(folder, joined(url, str(name)) if url and is_named else None, patience_s, isolates)
            if may_go_on:
                _bring_journal(place)
        except LockHeldError:
            if name is None and asked.kind == "auto":
                continue  # Another driver resumed it first: begin a new one.
            raise
        place.goes_on = may_go_on and is_begun(folder)
        is_over = name is None and asked.kind == "auto" and is_finished(folder)
        if not is_over and (place.goes_on or found is None):
            return place
        place.give_back()  # The experiment is gone or finished: look again.


def make_room(place: ResultsPlace, storage: str | Path | None, now: datetime) -> None:
    """Move an earlier experiment in a new experiment's folder aside; `place.moved` says where.

    Raises:
        StorageError: It cannot be moved, or another driver took the folder meanwhile.
    """
    stamp = f"{now:%Y-%m-%d_%H-%M-%S}"
    if place.url is not None and place.lease is not None:
        root = RemoteFiles(os.fspath(storage or ""))
        name = RemoteFiles(place.url).url.removeprefix(root.url).strip("/")
        place.moved = place.moved or _moved_aside(root, name, stamp, place.lease.number)
    try:
        if place.lock is not None and _holds_more(place.folder):
            aside = _fresh(place.folder.with_name(f"{place.folder.name}.{stamp}"))
            is_made = place.lock.move_folder(aside)
            place.made = [place.folder] if is_made else []
            forget_origin(aside)  # The URL holds another experiment now.
            moved = f"a new experiment begins in {place.folder}; the earlier one is now in {aside}"
            place.moved = place.moved or f"{moved}{_unfinished(aside)}"
        if place.url is not None:
            note_origin(place.folder, place.url)  # Before the journal: a resume must know the URL.
    except StorageError:  # Also an OSError, with a better message.
        raise
    except OSError as error:
        raise _unwritable(place.folder, error) from None


# --- one folder -----------------------------------------------------------------------------


def _taken(
    folder: Path, url: str | None, patience_s: float, isolates: bool = False, is_new: bool = False
) -> ResultsPlace:
    """Take the lease and the lock of a folder, and return its place.

    Args:
        url: URL of its mirror; None for the URL recorded in the folder.
        is_new: Whether this call must create the folder.

    Raises:
        FileExistsError: The folder exists, but must be new.
    """
    while True:
        at = url or origin(folder)
        place = ResultsPlace(folder, "", at, patience_s)
        try:
            if at is not None:
                _check_reach(at, isolates)
                place.lease = Lease.acquire(RemoteFiles(at), patience_s=AT_START_S, say=say)
                place.lease.keep()
            place.lock = _locked(folder, place.made, 0.0 if at is None else _READERS_S, is_new)
            if at == (url or origin(folder)):
                return place
        except BaseException:
            place.give_back()
            raise
        place.give_back()  # another driver has mirrored it meanwhile: its lease comes first


def _locked(folder: Path, made: list[Path], patience_s: float, is_new: bool) -> WriterLock:
    """Lock a folder and return the lock; missing folders are created and added to `made`."""
    for n in count(1):
        try:
            before = len(made)
            _make(folder, made)
            if is_new and folder not in made[before:]:
                raise FileExistsError(folder)
            return WriterLock(folder / LOCK, patience_s)
        except (StorageError, FileExistsError):
            raise
        except OSError as error:
            if not isinstance(error, FileNotFoundError) or n == _MOST_TRIES:
                raise _unwritable(folder, error) from None
            # else the folder was moved or deleted since it was made
    raise AssertionError("count() ends never")


def _make(folder: Path, made: list[Path]) -> None:
    for one in reversed((folder, *folder.parents)):
        if not one.exists():
            try:
                one.mkdir()
                made.append(one)
            except FileExistsError:
                continue


def _bring_journal(place: ResultsPlace) -> None:
    """Update the folder's journal with the journal at the URL."""
    if place.url is None or place.lock is None or local_folder(place.url) != place.folder:
        return
    url, lock = place.url, place.lock
    from overtone.journal.fetching import fetch

    try:
        if patiently(lambda: RemoteFiles(url).sizes("journal")):
            patiently(lambda: fetch(url, lock, say))
    except BaseException:
        place.give_back()
        raise


def _unnamed(root: Path, url: str | None, stem: str, patience_s: float) -> ResultsPlace:
    """Return a place that no other experiment has used: `stem`, or with _2, _3, ..."""
    for n in count(1):
        name = stem if n == 1 else f"{stem}_{n}"
        try:
            if url is None:
                return _taken(root / name, None, patience_s, is_new=True)
            files = RemoteFiles(joined(url, name))
            if patiently(files.sizes):
                continue
            place = _taken(root / name, files.url, patience_s)
        except (FileExistsError, LeaseHeldError, LockHeldError):  # begun in the same second
            continue
        if not patiently(lambda files=files: files.sizes("journal")):  # type: ignore[misc]
            return place
        place.give_back()
    raise AssertionError("count() ends never")


# --- a URL ------------------------------------------------------------------------------------


def _check_reach(url: str, isolates: bool) -> None:
    """Refuse what trials in other processes could not reach."""
    if protocol_of(url) == "memory" and isolates:
        raise OvertoneError(
            f"storage_path={url!r} lives in the memory of this process, and trials run in processes of their "
            f'own: choose engine="inline" or "simulated", or a storage_path such as "~/overtone_results" or '
            '"s3://bucket/folder"'
        )


def _moved_aside(root: RemoteFiles, name: str, stamp: str, number: int) -> str:
    """Move an earlier experiment of that name: copied first, then deleted, its journal before the rest.

    Args:
        number: Of the lease that the caller holds, which stays.

    Returns:
        A line that says where it is now; "" if there was none.
    """
    here = root.below(name)
    own = f"lease/{number:06d}.json"
    names = [one for one in patiently(here.sizes) if one != own]
    if not any(one.startswith("journal/") for one in names):
        return ""
    aside = next(
        one
        for n in count(1)
        if not patiently((one := root.below(f"{name}.{stamp}" + (f"_{n}" if n > 1 else ""))).sizes)
    )
    patiently(lambda: here.copy(names, aside))
    gone = [one for one in names if not one.startswith("lease/")]  # leases stay: their numbers only grow
    patiently(lambda: here.remove(sorted(gone, key=lambda one: not one.startswith("journal/"))))
    return f"a new experiment begins in {here.url}; the earlier one is now in {aside.url}"


# --- an earlier experiment in the folder -----------------------------------------------------


def _holds_more(folder: Path) -> bool:
    """Return whether the folder holds more than the files of every taken folder."""
    names = set(os.listdir(folder)) - {LOCK, ".url"}
    return bool(names - {JOURNAL}) or (JOURNAL in names and is_begun(folder))


def _unfinished(aside: Path) -> str:
    """Return the hint about an unfinished experiment that was moved aside; "" if it is finished."""
    if not is_begun(aside) or is_finished(aside):
        return ""
    return (
        f'. It is unfinished: `overtone resume {aside}` goes on with it; resume="AUTO" does without moving it'
    )


def _fresh(folder: Path) -> Path:
    """Return `folder`, or with _2, _3, ... if it exists."""
    names = (folder if n == 1 else folder.with_name(f"{folder.name}_{n}") for n in count(1))
    return next(one for one in names if not one.exists())


def _unwritable(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"results cannot be written to {folder}: {error.strerror or error}. Give a folder that you may "
        'write to: tune.run(..., storage_path="/some/folder")'
    )
