"""Comparison of the files in trials' folders with the journal."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from overtone.core.table import Row, TrialTable
from overtone.errors import StorageError
from overtone.observers.file_output import NEW
from overtone.observers.files.constant_text import params_text
from overtone.observers.files.csv_rows import PROGRESS_CSV
from overtone.observers.files.json_lines import RESULT_JSON
from overtone.observers.files.text_files import ERROR_TXT, PARAMS_JSON
from overtone.observers.repair.file_counts import csv_rows, event_steps, json_lines
from overtone.regular_files import read_regular

EVENTS = "events.out.tfevents."
FILES = (RESULT_JSON, PROGRESS_CSV, PARAMS_JSON, ERROR_TXT, EVENTS)
"""Names of files, and how the names of event files begin."""

_COUNTS = {RESULT_JSON: json_lines, PROGRESS_CSV: csv_rows}

RECENT_S = 120.0
"""Files written this many seconds before the journal's end are on the disk: systems write within 30 s."""

_TRIAL = re.compile(r"[0-9a-f]{5}_\d{5,}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(slots=True)
class Due:
    """The trials whose files must be written again.

    Attributes:
        rows: Trials whose result.json and progress.csv differ.
        events: Trials whose event files differ.
        facts: Trials whose params.json or error.txt may differ.
    """

    rows: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)

    @property
    def trials(self) -> set[str]:
        return self.rows | self.events | self.facts

    def __bool__(self) -> bool:
        return bool(self.rows or self.events or self.facts)


def deviating(
    folder: str,
    table: TrialTable,
    *,
    with_events: bool,
    has_real_clock: bool,
    without: Container[str] = (),
) -> Due:
    """Return the trials whose files are not as long as the journal says.

    Args:
        table: The state at the end of the journal.
        with_events: Whether to look at event files, too.
        has_real_clock: Whether the experiment's seconds are those of the disk.
        without: Names of files that are not looked at.

    Raises:
        StorageError: A trial's folder would not be in `folder`.
    """
    due = Due()
    since = table.time - RECENT_S if has_real_clock else float("-inf")
    for row in table.rows.values():
        path = f"{folder}{os.sep}{row.id}{os.sep}"
        if row.ended is not None and row.ended < since:
            _compare_sizes(path, row, due, with_events, without)
        else:
            check_name(folder, row.id)
            _compare(path, row, due, with_events, without)
    for trial in due.trials:
        check_name(folder, trial)
    return due


def _compare_sizes(path: str, row: Row, due: Due, with_events: bool, without: Container[str]) -> None:
    """Of a trial that ended long ago: only whether its files are there."""
    if row.n_results:
        if all(name in without or _size(path + name) for name in (RESULT_JSON, PROGRESS_CSV)):
            return
        due.rows.add(row.id)
        if with_events and not os.path.isdir(path):  # such as where only the journal was brought to
            due.events.add(row.id)
    elif row.started is not None and PARAMS_JSON not in without and not _size(path + PARAMS_JSON):
        due.facts.add(row.id)


def _compare(path: str, row: Row, due: Due, with_events: bool, without: Container[str]) -> None:
    names = _names(path)
    for name in names:
        if name.endswith(NEW) and name.startswith(FILES):
            os.unlink(path + name)
    for name, count in _COUNTS.items():
        if name not in without and count(_read(path, name, names)) != row.n_results:
            due.rows.add(row.id)
    params = b"" if PARAMS_JSON in without else _read(path, PARAMS_JSON, names)
    is_there = row.started is not None and PARAMS_JSON not in without
    expected = params_text(row.config).encode("utf-8", "backslashreplace") if is_there else b""
    if params != expected or row.error or row.attempt > 1 or ERROR_TXT in names:
        due.facts.add(row.id)
    if with_events:
        counts = [event_steps(_read(path, name, names)) for name in names if name.startswith(EVENTS)]
        if sum(counts) != row.n_results or -1 in counts:
            due.events.add(row.id)


def strangers(folder: str, table: TrialTable) -> Iterator[str]:
    """Yield the folders of trials that the journal lost: new trials with these names start empty."""
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        is_known = entry.name in table.rows or not _TRIAL.fullmatch(entry.name)
        if not is_known and entry.is_dir(follow_symlinks=False):
            yield entry.name


def remove(folder: str, trial: str, names: tuple[str, ...] = FILES) -> None:
    """Delete a trial's files whose names begin with one of `names`; others stay."""
    path = f"{folder}{os.sep}{trial}{os.sep}"
    for name in _names(path):
        if name in names or (name.startswith(EVENTS) and EVENTS in names):
            with suppress(FileNotFoundError):
                os.unlink(path + name)


def check_name(folder: str, trial: str) -> None:
    """Refuse a trial whose folder would not be in the experiment's.

    Raises:
        StorageError: The id is not a plain name, or the folder is a link.
    """
    if not _NAME.fullmatch(trial):
        raise StorageError(
            f"{folder}: the journal names a trial {trial!r}, which is no name of a folder. Overtone did not "
            f"write it; nothing was written for it"
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
