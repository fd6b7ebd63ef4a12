"""Usage of trial limits, stored in the experiment's folder for the driver that resumes it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.regular_files import open_regular

TALLY = ".limits_used.json"
"""File next to the journal; if the file is lost, the usage of trials counts from zero again."""

_MAX_BYTES = 1 << 26

Amounts = tuple[float, float]
"""time_s and cpu_s."""


class UsageFile:
    """The usage file of an experiment; not written after the folder was replaced.

    Args:
        folder: The experiment's folder.
    """

    def __init__(self, folder: str) -> None:
        self._path = Path(folder, TALLY)
        self._folder_id = self._identity()

    def read(self) -> dict[int, Amounts]:
        """Return the usage of each trial, by trial index; empty if the file is missing or damaged."""
        with suppress(OSError, ValueError, RecursionError), open_regular(self._path) as file:
            data = json.loads(file.read(_MAX_BYTES))
            if isinstance(data, dict):
                return {int(index): (pair[0], pair[1]) for index, pair in data.items() if _is_pair(pair)}
        return {}

    def write(self, used: Mapping[int, Amounts]) -> None:
        """Write the usage for `read`; skip the write if the disk is full."""
        if self._folder_id is None or self._identity() != self._folder_id:
            return  # the folder belongs to another experiment by now
        new = self._path.with_name(f"{TALLY}.{os.getpid()}")
        text = json.dumps({index: [round(amount, 3) for amount in pair] for index, pair in used.items()})
        try:
            new.unlink(missing_ok=True)
            with open(new, "x", encoding="ascii") as file:  # a link that lies there is not followed
                file.write(text)
            os.replace(new, self._path)
        except OSError:  # the disk is full
            with suppress(OSError):
                new.unlink()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path.parent)
        except OSError:
            return None  # trials run on another machine than the driver
        return found.st_dev, found.st_ino


def _is_pair(pair: Any) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and all(type(amount) in (int, float) and 0 <= amount < math.inf for amount in pair)
    )
