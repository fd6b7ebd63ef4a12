"""One experiment as `ls` and `show` tell of it: its state now, and what its journal says."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from overtone.control.holder import Holder, holder
from overtone.errors import OvertoneError
from overtone.journal.lines import header
from overtone.quantity_text import moment
from overtone.reading.summary_cache import SummaryCache
from overtone.store.cache import origin

RUNNING = "running"
FINISHED = "finished"
INTERRUPTED = "interrupted"
CRASHED = "crashed"
DAMAGED = "damaged"

STATUSES = {
    "TERMINATED": "done",
    "RUNNING": "running",
    "PAUSED": "paused",
    "PENDING": "pending",
    "INTERRUPTED": "cut off",
    "ERROR": "failed",
}
"""A trial's status, and the word for it in a count; INTERRUPTED ran when its driver died."""


def status_now(status: str, is_running: bool) -> str:
    """Return a trial's status as it is now: nothing runs where no driver does."""
    return "INTERRUPTED" if status == "RUNNING" and not is_running else status


def overview(journal: Path, index: SummaryCache, watches: bool = True) -> dict[str, Any]:
    """Return the experiment in one JSON object, as docs/cli.md lists it.

    Args:
        watches: See `holder`.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    by = holder(journal, watches)
    known = index.summary(journal)
    if by is None and known["started"] is None:
        header(journal)  # raises if there is no journal
    statuses = known["statuses"]
    if by is None and "RUNNING" in statuses:
        statuses["INTERRUPTED"] = statuses.pop("RUNNING")
    state = _state(by, known)
    return {
        "name": journal.parent.name,
        "path": place_of(journal),
        "state": state,
        "is_resumable": state in (INTERRUPTED, CRASHED),
        "driver": None if by is None else {"pid": by.pid, "hostname": by.hostname, "since": moment(by.since)},
        "trainable": known["trainable"],
        "trials": sum(statuses.values()),
        "planned": known["planned"],
        "statuses": statuses,
        "results": known["results"],
        "metric": known["metric"],
        "mode": known["mode"],
        "best": known["best"],
        "started": moment(known["started"]),
        "duration_s": _duration(by, known, journal),
        "size_bytes": known["size_bytes"],
        "runs": known["runs"],
        "error": None,
    }


def place_of(journal: Path) -> str:
    """Return the experiment's folder, or the URL that the folder is the local part of."""
    return origin(journal.parent) or os.fspath(journal.parent)


def damaged(journal: Path, error: Exception) -> dict[str, Any]:
    """Return the same for one whose journal cannot be read."""
    text = str(error) if isinstance(error, OvertoneError) else f"{type(error).__name__}: {error}"
    names = ("driver", "planned", "metric", "mode", "best", "started", "duration_s", "size_bytes")
    return {
        "name": journal.parent.name,
        "path": os.fspath(journal.parent),
        "state": DAMAGED,
        "is_resumable": False,
        **dict.fromkeys(names),
        "trainable": "",
        "trials": 0,
        "statuses": {},
        "results": 0,
        "runs": 0,
        "error": text[:1000],
    }


def _state(by: Holder | None, known: dict[str, Any]) -> str:
    if by is not None:
        return RUNNING
    if known["is_finished"]:
        return FINISHED
    return INTERRUPTED if known["is_interrupted"] else CRASHED


def _duration(by: Holder | None, known: dict[str, Any], journal: Path) -> float:
    """Seconds that it has run, up to now where it runs."""
    lasted = float(known["time"])
    if by is None:
        return lasted
    try:
        return lasted + max(0.0, time.time() - journal.stat().st_mtime)
    except OSError:
        return lasted


def counted(statuses: dict[str, int]) -> str:
    """Return text such as `18 done, 2 failed`."""
    words = [f"{statuses[one]} {word}" for one, word in STATUSES.items() if statuses.get(one)]
    return ", ".join(words) or "none"
