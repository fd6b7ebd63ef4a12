"""The folder with a trial's output, which is downloaded if it is only at the experiment's URL."""

from __future__ import annotations

import os
import time
from pathlib import Path

from overtone.reading.trial_output import NEWEST, OLDER
from overtone.store.cache import FETCHED, origin
from overtone.store.files import RemoteFiles


def is_elsewhere(journal: Path, trial_id: str, names: tuple[str, str] | None) -> bool:
    """Return whether a trial's output is at the URL of its experiment, and not on this machine.

    Args:
        names: The files of `log_to_file`; None for kept output.
    """
    folder = journal.parent / trial_id
    return origin(journal.parent) is not None and not any(
        os.path.lexists(folder / name) for name in _files(names)
    )


def output_folder(
    journal: Path, trial_id: str, names: tuple[str, str] | None, max_age_s: float = 0.0
) -> Path:
    """Return the folder with a trial's output.

    Args:
        names: The files of `log_to_file`; None for kept output.
        max_age_s: Files that were downloaded less than so many seconds ago are not downloaded again.

    Raises:
        StorageError: The URL cannot be read.
    """
    folder = journal.parent / trial_id
    url = origin(journal.parent)
    if url is None or not is_elsewhere(journal, trial_id, names):
        return folder
    remote, copy = RemoteFiles(url), journal.parent / FETCHED / f"{trial_id}-output"
    mark = copy / ".fetched"
    try:
        if time.time() - mark.stat().st_mtime < max_age_s:
            return copy
    except OSError:
        pass
    for name in _files(names):
        data = remote.read(f"{trial_id}/{name}")
        if data is not None:
            copy.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(data)
    if copy.is_dir():
        mark.touch()
    return copy


def _files(names: tuple[str, str] | None) -> dict[str, None]:
    return dict.fromkeys(names or (OLDER, NEWEST))
