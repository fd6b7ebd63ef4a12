"""Lookup of an experiment by its folder, its journal, or its URL."""

from __future__ import annotations

import os
from pathlib import Path

from overtone.errors import StorageError
from overtone.regular_files import open_regular
from overtone.store.files import is_url
from overtone.store.folder_mark import JOURNAL

_MOST_LISTED = 8
_START = b'{"n":1,"e":"header"'


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
        raise StorageError(f"there is no experiment at {str(path)!r}: {parent} holds {_listed(parent)}")
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
    raise StorageError(f"{str(path)!r} is no experiment, it has no {JOURNAL}: it holds {_listed(given)}")


def _check_kind(file: Path) -> None:
    """Raise for a file that is not a journal; an empty file may become a journal."""
    start = _start(file)
    if not _START.startswith(start):
        raise StorageError(
            f"{file} is no journal of an experiment: it begins with {start!r}; name the folder instead"
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
