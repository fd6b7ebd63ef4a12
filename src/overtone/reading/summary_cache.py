"""SummaryCache of experiments' summaries in the cache folder, so that no journal is read twice.

The cache is disposable: a damaged, locked or outdated file is ignored, and made again if possible.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from overtone.cache_folder import cache_folder
from overtone.errors import StorageError
from overtone.reading.experiment_summary import VERSION, ExperimentSummary
from overtone.reading.overview_file import OverviewFile
from overtone.reading.reading_progress import ReadingProgress
from overtone.regular_files import open_regular

_START_BYTES, _END_BYTES = 512, 64  # of what was read of a journal; they tell whether it is still the same
_MOST = 2000  # experiments that are remembered


def cache_file() -> Path:
    """Return `index.sqlite3` in the user's cache folder."""
    return cache_folder() / "index.sqlite3"


class SummaryCache:
    """The summaries of journals, by path; a context manager.

    Args:
        file: Where it is kept; `cache_file()` where not given.

    Attributes:
        n_read: How many journals had to be opened.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file if file is not None else cache_file()
        self._database: sqlite3.Connection | None = None
        self.n_read = 0

    def __enter__(self) -> SummaryCache:
        for _ in range(2):
            try:
                self._open()
                break
            except (sqlite3.Error, OSError):  # damaged, or no place to write
                self._close()
                if not self._is_damaged():
                    break
                with suppress(OSError):
                    self._file.unlink()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def summary(self, journal: Path) -> dict[str, Any]:
        """Return the experiment's summary with "size_bytes", the size of its folder; see `ExperimentSummary`.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        try:
            found = os.stat(journal)
        except OSError as error:
            raise StorageError(f"{journal} cannot be read: {error.strerror}") from error
        stamp = f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"
        known = self._get(journal)
        if known is not None and known[0] == stamp:
            summary: dict[str, Any] = json.loads(known[1])
            return summary
        self.n_read += 1
        fold = _resumed(journal, known)
        with ReadingProgress(journal) as progress:
            fold.read(journal, progress)
        summary = {**fold.summary(), "size_bytes": folder_bytes(journal.parent)}
        self._put(journal, stamp, summary, fold)
        return summary

    # --- the database ------------------------------------------------------------------

    def _open(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(self._file, timeout=1.0)
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            self._database.execute("DROP TABLE IF EXISTS experiments")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS experiments (journal TEXT PRIMARY KEY, stamp TEXT NOT NULL, "
            "summary TEXT NOT NULL, fold TEXT NOT NULL, ends BLOB NOT NULL)"
        )
        self._database.execute("SELECT journal, stamp, summary, fold, ends FROM experiments LIMIT 1")
        self._database.execute(f"PRAGMA user_version = {VERSION}")
        self._database.commit()

    def _close(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None

    def _is_damaged(self) -> bool:
        """Return whether the file exists and is not a database that this version understands."""
        try:
            with closing(sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True)) as database:
                database.execute("SELECT journal, stamp, summary, fold, ends FROM experiments LIMIT 1")
        except sqlite3.OperationalError as error:
            return "no such" in str(error)  # a table or a column; not: locked, or cannot be opened
        except sqlite3.Error:
            return True
        return False

    def _get(self, journal: Path) -> tuple[str, str, str, bytes] | None:
        if self._database is None:
            return None
        try:
            rows = self._database.execute(
                "SELECT stamp, summary, fold, ends FROM experiments WHERE journal = ?", (_key(journal),)
            )
            found: tuple[str, str, str, bytes] | None = rows.fetchone()
            if found is not None:
                json.loads(found[1]), json.loads(found[2])["offset"]
            return found
        except (sqlite3.Error, ValueError, KeyError, TypeError):
            return None

    def _put(self, journal: Path, stamp: str, summary: dict[str, Any], fold: ExperimentSummary) -> None:
        if self._database is None:
            return
        ends = _ends(journal, fold.data["offset"])
        row = (_key(journal), stamp, json.dumps(summary), json.dumps(fold.data), ends)
        try:
            with self._database:
                self._database.execute("REPLACE INTO experiments VALUES (?, ?, ?, ?, ?)", row)
                self._database.execute(
                    "DELETE FROM experiments WHERE rowid <= (SELECT max(rowid) FROM experiments) - ?",
                    (_MOST,),
                )
        except sqlite3.Error:  # read-only, full or locked: it is only a cache
            self._close()


def _key(journal: Path) -> str:
    return os.fsencode(journal).decode("utf-8", "backslashreplace")


def _resumed(journal: Path, known: tuple[str, str, str, bytes] | None) -> ExperimentSummary:
    """Return a fold that continues the last one, if the folded part of the journal is unchanged.

    The part has changed if the journal was replaced, or was cut and has grown again. Without an
    earlier fold, the fold saved by the driver is used, if any.
    """
    if known is not None and known[3] == _ends(journal, (data := json.loads(known[2]))["offset"]):
        return ExperimentSummary(data)
    return OverviewFile(journal).load() or ExperimentSummary()


def _ends(journal: Path, offset: int) -> bytes:
    """Return the first and last bytes of what was read up to `offset`, where a line ends with a checksum."""
    try:
        with open_regular(journal) as file:
            start = file.read(min(_START_BYTES, offset))
            file.seek(max(0, offset - _END_BYTES))
            return start + file.read(min(_END_BYTES, offset))
    except OSError:
        return b""


def folder_bytes(folder: Path) -> int:
    """Return the total size of the files in a folder, in bytes; links are not followed."""
    total, left = 0, [os.fspath(folder)]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:  # gone meanwhile, or not ours to read
            continue
    return total
