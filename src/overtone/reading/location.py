"""Lookup of an experiment by its folder, its journal, or its URL."""

from __future__ import annotations

import os
from pathlib import Path

from overtone.errors import StorageError
from overtone.lazy import nearest
from overtone.regular_files import open_regular
from overtone.store.files import is_url
from overtone.store.folder_mark import JOURNAL

RESULTS = "~/overtone_results"
"""The folder of all experiments, if none is given."""

_MOST_LISTED = 8
_START = b'{"n":1,"e":"header"'


def path_of(name: str | os.PathLike[str]) -> str:
    """Return a path or a URL as it is, and for the bare name of an experiment below `RESULTS` its folder."""
    text = os.fspath(name)
    below = os.path.join(os.path.expanduser(RESULTS), text)
    is_name = os.sep not in text and not os.path.lexists(text)
    return below if is_name and os.path.isdir(below) else text


def located(path: str | os.PathLike[str]) -> Path:
    """Return the journal of the experiment at `path`, which is its folder or the journal itself.

    For a URL, new lines of the journal are downloaded to this machine.

    Raises:
        StorageError: There is no experiment; the message describes what is at `path` instead.
    """
    if is_url(os.fspath(path)):
        from overtone.journal.fetching import fetch

        return fetch(os.fspath(path)) / JOURNAL
    given = Path(path).expanduser().absolute()
    if os.path.lexists(given) and not given.is_dir():
        _check_kind(given)
        return given
    journal = given / JOURNAL
    if os.path.lexists(journal):
        _start(journal)
        return journal
    if not given.exists():
        parent = next(one for one in given.parents if one.is_dir())
        siblings = sorted(found.parent.name for found in parent.glob(f"*/{JOURNAL}"))
        there = f"has the experiments {_shortened(siblings)}" if siblings else f"holds {_listed(parent)}"
        hint = nearest(given.name, siblings) if parent == given.parent else ""
        raise StorageError(f"there is no experiment at {str(path)!r}: {parent} {there}{hint}")
    if (given.parent / JOURNAL).is_file():
        raise StorageError(
            f"{str(path)!r} is the folder of one trial, or belongs to one: "
            f"the experiment is {str(given.parent)!r}"
        )
    experiments = sorted(found.parent.name for found in given.glob(f"*/{JOURNAL}"))
    if experiments:
        raise StorageError(
            f"{str(path)!r} holds {len(experiments)} experiments: name one of them, such as "
            f"{str(given / experiments[-1])!r}; there are {_shortened(experiments)}"
        )
    raise StorageError(f"{str(path)!r} is not an experiment, it has no {JOURNAL}: it holds {_listed(given)}")


def experiment_names(folder: Path) -> list[str]:
    """Return the folders below `folder` that are experiments, the newest by name last."""
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if _is_experiment(one)]
    except OSError:
        return []
    return sorted(names)


def _is_experiment(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() and os.path.isfile(os.path.join(entry.path, JOURNAL))
    except OSError:
        return False


def _check_kind(file: Path) -> None:
    """Raise for a file that is not a journal; an empty file may become a journal."""
    start = _start(file)
    if not _START.startswith(start):
        raise StorageError(
            f"{file} is not a journal of an experiment: it begins with {start!r}; name the folder instead"
        )


def _start(file: Path) -> bytes:
    """Return the first bytes of a file.

    Raises:
        StorageError: It is not a regular file, or cannot be read.
    """
    try:
        with open_regular(file) as opened:
            return opened.read(len(_START))
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}") from error


def _listed(folder: Path) -> str:
    try:
        return _shortened(sorted(os.listdir(folder))) or "nothing"
    except OSError as error:
        return f"what cannot be listed ({error.strerror})"


def _shortened(names: list[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
