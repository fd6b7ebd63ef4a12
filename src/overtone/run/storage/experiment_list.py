"""A file in which the runs of a script list their experiments, for the program that started the script."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overtone.run.storage.results_place import ResultsPlace

ENVIRONMENT = "OVERTONE_EXPERIMENT_LIST"
"""The path of that file; nothing is listed without it."""


def is_submitted() -> bool:
    """Return whether `overtone submit` has started this script: its command says how to go on, elsewhere."""
    return bool(os.environ.get(ENVIRONMENT))


def list_experiment(place: ResultsPlace) -> None:
    """Append the folder, its inode and the URL of an experiment, as one line of JSON.

    The inode finds the folder again after a later run with the same name has moved it aside.
    A list that cannot be written does not disturb the run.
    """
    path = os.environ.get(ENVIRONMENT)
    if not path:
        return
    with suppress(OSError):
        facts = {"folder": str(place.folder), "inode": os.stat(place.folder).st_ino, "url": place.url}
        line = json.dumps(facts) + "\n"
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
        try:
            os.write(fd, line.encode())  # one write: lines of two runs do not mix
        finally:
            os.close(fd)
