"""Comparison of the files in trials' folders with the journal."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from overtone.core.table import Row, TrialTable
from overtone.errors import StorageError
from overtone.observers.file_output import NEW
from overtone.observers.files.constant_text import params_text
from overtone.observers.files.own_files import (
    ERROR_TXT,
    EVENTS,
    PARAMS_JSON,
    PROGRESS_CSV,
    RESULT_JSON,
    is_own,
)
from overtone.regular_files import read_regular

FILES = (RESULT_JSON, PROGRESS_CSV, PARAMS_JSON, ERROR_TXT, EVENTS)
"""Names of files, and how the names of event files begin."""

RECENT_S = 120.0
"""Files written this many seconds before the journal's end are on the disk: systems write within 30 s."""

_HOLE = bytes(512)
"""Pages that a power cut left unwritten read as zeros."""
_STEP = 0x10  # the key of Event.step: results have one, what begins and ends a session has none
_WALL_TIME = 0x09
_TRIAL = re.compile(r"[0-9a-f]{5}_\d{5,}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(slots=True)
class Due:
    """The trials whose files must be written again.

    Attributes:
        rows: Trials whose result.json and progress.csv differ.
        events: Trials whose event files differ.
        facts: Trials whose params.json or error.txt may differ.
        foreign: (trial, name) of the files that trials or callbacks wrote themselves, which stay as they are.
    """

    rows: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    foreign: set[tuple[str, str]] = field(default_factory=set)

    @property
    def trials(self) -> set[str]:
        """The trials whose text files are written again."""
        return self.rows | self.facts


def deviating(
    folder: str,
    table: TrialTable,
    *,
    with_events: bool,
    has_real_clock: bool,
    without: Iterable[str] = (),
) -> Due:
    """Return the trials whose files are not as long as the journal says.

    Args:
        table: The state at the end of the journal.
        with_events: Whether to look at event files, too.
        has_real_clock: Whether the experiment's seconds are those of the disk.
        without: Names of files that callbacks write, which stay as they are.

    Raises:
        StorageError: A trial's folder would not be in `folder`.
    """
    due = Due(foreign={(trial, name) for name in without for trial in table.rows})
    since = table.time - RECENT_S if has_real_clock else float("-inf")
    for row in table.rows.values():
        path = f"{folder}{os.sep}{row.id}{os.sep}"
        if row.ended is not None and row.ended < since:
            _compare_sizes(path, row, due, with_events)
        else:
            check_name(folder, row.id)
            _compare(path, row, due, with_events)
    for trial in due.trials | due.events:
        check_name(folder, trial)
    return due


def _compare_sizes(path: str, row: Row, due: Due, with_events: bool) -> None:
    """Of a trial that ended long ago: only whether its files are there."""
    if row.n_results:
        if _size(path + RESULT_JSON) and _size(path + PROGRESS_CSV):
            return
        due.rows.add(row.id)
        _find_foreign(path, row, due, _names(path))
        if with_events and not os.path.isdir(path):  # such as where only the journal was brought to
            due.events.add(row.id)
    elif row.started is not None and not _size(path + PARAMS_JSON):
        due.facts.add(row.id)


def _compare(path: str, row: Row, due: Due, with_events: bool) -> None:
    names = _names(path)
    for name in names:
        if name.endswith(NEW) and name.startswith(FILES):
            os.unlink(path + name)
    found = _find_foreign(path, row, due, names)
    counts = {RESULT_JSON: json_lines, PROGRESS_CSV: csv_rows}
    for name, count in counts.items():
        if (row.id, name) not in due.foreign and count(found.get(name, b"")) != row.n_results:
            due.rows.add(row.id)
    expected = params_text(row.config).encode("utf-8", "backslashreplace") if row.started is not None else b""
    if found.get(PARAMS_JSON, b"") != expected or row.error or row.attempt > 1 or ERROR_TXT in names:
        due.facts.add(row.id)
    if with_events:
        files = [_read(path, name, names) for name in names if name.startswith(EVENTS)]
        steps = [event_steps(one) for one in files if is_own(EVENTS, row.id, one)]
        if sum(steps) != row.n_results or -1 in steps:
            due.events.add(row.id)


def _find_foreign(path: str, row: Row, due: Due, names: list[str]) -> dict[str, bytes]:
    """Note the files that the trial wrote itself under Overtone's names; return the contents by name."""
    found = {name: _read(path, name, names) for name in names if name in FILES}
    has_failed = bool(row.error or row.attempt > 1)
    due.foreign |= {
        (row.id, name) for name, data in found.items() if not is_own(name, row.id, data, has_failed)
    }
    return found


def strangers(folder: str, table: TrialTable) -> Iterator[str]:
    """Yield the folders of trials that the journal lost: new trials with these names start empty."""
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        is_known = entry.name in table.rows or not _TRIAL.fullmatch(entry.name)
        if not is_known and entry.is_dir(follow_symlinks=False):
            yield entry.name


def remove(folder: str, trial: str, names: tuple[str, ...] = FILES) -> None:
    """Delete Overtone's files of a trial whose names begin with one of `names`; others stay."""
    path = f"{folder}{os.sep}{trial}{os.sep}"
    every = _names(path)
    for name in every:
        is_one = name in names or (name.startswith(EVENTS) and EVENTS in names)
        if is_one and is_own(name, trial, _read(path, name, every)):
            with suppress(FileNotFoundError):
                os.unlink(path + name)


def check_name(folder: str, trial: str) -> None:
    """Refuse a trial whose folder would not be in the experiment's.

    Raises:
        StorageError: The id is not a plain name, or the folder is a link.
    """
    if not _NAME.fullmatch(trial):
        raise StorageError(
            f"{folder}: the journal names a trial {trial!r}, which is not the name of a folder. Overtone did "
            f"not write it; nothing was written for it"
        )
    if os.path.islink(f"{folder}{os.sep}{trial}"):
        raise StorageError(
            f"{folder}{os.sep}{trial} is a link: a trial's files are written into its own folder only. "
            f"Replace the link by the folder that it names"
        )


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _read(path: str, name: str, names: list[str]) -> bytes:
    """Return the contents of a file; empty if it is missing or is not a regular file."""
    if name not in names:
        return b""
    try:
        return read_regular(path + name, follow_links=False)
    except OSError:  # anything that is not a regular file is replaced
        return b"\0"


def json_lines(data: bytes) -> int:
    """Return the results in a result.json; -1 where it was torn."""
    if not data:
        return 0
    return data.count(b"\n") if data.endswith(b"}\n") and b"\0" not in data else -1


def csv_rows(data: bytes) -> int:
    """Return the results in a progress.csv; -1 where it was torn."""
    if not data:
        return 0
    if not data.endswith(b"\n") or b"\0" in data:
        return -1
    if b'"' not in data:
        return data.count(b"\n") - 1
    pieces = data.split(b'"')  # every other one is inside of quotes
    return sum(piece.count(b"\n") for piece in pieces[::2]) - 1 if len(pieces) % 2 else -1


def event_steps(data: bytes) -> int:
    """Return the results in a TensorBoard event file; -1 where it was torn."""
    if _HOLE in data:
        return -1
    at, steps, size = 0, 0, len(data)
    while at < size:
        if at + 16 > size:
            return -1
        (length,) = struct.unpack_from("<Q", data, at)
        body = at + 12
        at = body + length + 4
        # an event begins with its wall time (9 bytes), and its step follows
        if at > size or length < 9 or data[body] != _WALL_TIME:
            return -1
        steps += length > 9 and data[body + 9] == _STEP
    return steps
