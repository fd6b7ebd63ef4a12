"""Location of an experiment's results: a local folder, which may be mirrored to a URL."""

from __future__ import annotations

import os
from pathlib import Path

from overtone.run.storage.results_place import patiently
from overtone.standard_streams import say
from overtone.store.files import RemoteFiles, is_url
from overtone.store.folder_mark import JOURNAL

DEFAULT = "~/overtone_results"


def root_of(storage: str | Path | None) -> Path:
    """Return the local folder of experiments; for a URL, the folder of their local parts."""
    text = os.fspath(storage) if storage is not None else DEFAULT
    if is_url(text):
        from overtone.store.cache import local_folder

        return local_folder(text)
    return Path(text.removeprefix("file://")).expanduser().absolute()


def bring(url: str, name: str | None, trainable: str) -> None:
    """Copy the experiments at a URL that a resume may mean to this machine.

    Args:
        name: The experiment; None for the newest few of `trainable`.
    """
    from overtone.journal.fetching import fetch

    files = RemoteFiles(url)
    names = patiently(files.folders)
    wanted = [name] if name is not None else [one for one in names if one.startswith(f"{trainable}_2")][-3:]
    for one in wanted:
        there = files.below(one)
        if one in names and patiently(lambda there=there: there.sizes("journal")):  # type: ignore[misc]
            patiently(lambda there=there: fetch(there.url, say=say))  # type: ignore[misc]


def locate(where: str | Path) -> Path:
    """Return the local folder of the experiment at a path or URL, after copying its journal.

    Raises:
        StorageError: There is none at that URL.
    """
    text = os.fspath(where)
    if is_url(text):
        from overtone.journal.fetching import fetch

        return patiently(lambda: fetch(text, say=say))
    return Path(text.removeprefix("file://")).expanduser().absolute()


def holds_experiment(where: str | Path) -> bool:
    """Return whether there is an experiment at a path or URL."""
    text = os.fspath(where)
    if is_url(text):
        return bool(patiently(lambda: RemoteFiles(text).sizes("journal")))
    return (Path(text.removeprefix("file://")).expanduser() / JOURNAL).exists()
