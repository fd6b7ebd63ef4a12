"""Opens a storage of Optuna as a SQLite database: the file itself, or a copy of what it holds."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from overtone.importers.optuna.sqlite_reader import unreadable

_WAIT_S = 30.0


@contextmanager
def opened_sqlite(path: Path, scratch: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to read it as it is now, also while another process writes.

    With a write-ahead log the reader sees one state, and writers go on. Without, a reader would hold up
    writers: so the database is copied first.

    Args:
        scratch: A folder for copies.

    Raises:
        StorageError: It cannot be read.
    """
    try:
        database = _connected(path, scratch)
    except sqlite3.Error as error:
        raise unreadable(str(path), error) from error
    with closing(database):
        yield database


def _connected(path: Path, scratch: Path) -> sqlite3.Connection:
    try:
        database = _open(path, "mode=ro")
        mode = str(database.execute("PRAGMA journal_mode").fetchone()[0])
        database.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise
        # A log of changes in a folder that may not be written: SQLite needs files beside the log.
        return _open(_copied(path, scratch), "mode=rw")
    if mode == "wal":
        database.execute("BEGIN")
        return database
    copy = sqlite3.connect(scratch / "copy.db", isolation_level=None)
    try:
        with closing(database):
            database.backup(copy)
    except BaseException:
        copy.close()
        raise
    return copy


def _open(path: Path, how: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{how}"
    return sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)


def _copied(path: Path, scratch: Path) -> Path:
    """Copy a database with the log of changes that it does not hold yet, or that must be undone."""
    copy = scratch / "copy.db"
    for suffix in ("", "-wal", "-journal"):
        source = path.with_name(path.name + suffix)
        if source.is_file():
            shutil.copyfile(source, f"{copy}{suffix}")
    return copy
