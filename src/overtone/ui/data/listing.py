"""The list of all experiments: running first, then the newest."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from overtone.control.overview import damaged, overview
from overtone.errors import OvertoneError
from overtone.reading.summary_cache import SummaryCache
from overtone.ui.data.experiment_places import Place

_MOST_SHARE = 0.1
"""The greatest share of time that reading grown journals takes, but see `_MOST_AGE_S`."""

_MOST_AGE_S = 30.0
"""Seconds after which the facts of an experiment are read again, however long that takes."""


class Listing:
    """The experiments of a place. A journal is read on only if it has grown.

    Args:
        place: Where they are.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._known: dict[str, tuple[object, float, dict[str, Any]]] = {}

    def read(self) -> list[dict[str, Any]]:
        """Return the facts of each experiment as `overtone ls --json` has them, with "id".

        Raises:
            StorageError: A URL cannot be read.
        """
        with self._lock:
            names = self._place.names()
            with SummaryCache() as cache:
                found = [{"id": name, **self._facts(name, cache)} for name in names]
            self._known = {name: one for name, one in self._known.items() if name in set(names)}
        found.sort(key=lambda one: one["name"])
        found.sort(key=lambda one: one["started"] or "", reverse=True)
        return sorted(found, key=lambda one: one["state"] != "running")

    def _facts(self, name: str, cache: SummaryCache) -> dict[str, Any]:
        begun = time.monotonic()
        known = self._known.get(name)
        if known is not None and known[1] > begun:
            return known[2]
        try:
            journal = self._place.journal(name)
            stamp = _stamp(journal)
            if known is not None and known[0] == stamp and known[2]["driver"] is None:
                return known[2]
            facts = overview(journal, cache, watches=False)
        except Exception as error:  # one bad folder must not hide the others
            stamp, facts = None, damaged_facts(name, error)
        now = time.monotonic()
        self._known[name] = stamp, min(begun + (now - begun) / _MOST_SHARE, now + _MOST_AGE_S), facts
        return facts


def damaged_facts(name: str, error: Exception) -> dict[str, Any]:
    """Return the facts of an experiment whose journal cannot be read."""
    return damaged(Path(name) / "journal", error)


def reason_of(error: Exception) -> str:
    """Return an error as a sentence."""
    return str(error) if isinstance(error, OvertoneError) else f"{type(error).__name__}: {error}"


def _stamp(journal: Path) -> object:
    found = journal.stat()
    lock = journal.with_name(f"{journal.name}.lock")
    held = lock.stat().st_mtime_ns if lock.exists() else 0
    return found.st_ino, found.st_size, found.st_mtime_ns, held
