"""The process that follows the journal writes what the observers in the driver would."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from overtone.core.messages import Record
from overtone.core.table import TrialTable
from overtone.errors import StorageError
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.observers import helper_processes
from overtone.observers.files import file_process
from overtone.observers.files.file_process import FileWriter, write_files
from overtone.observers.projections import file_observers
from overtone.observers.table_keeper import TableKeeper
from overtone.store.folder_mark import FolderGoneError, FolderMark
from overtone.testing.observer_conformance import eventful
from overtone.testing.scripted_records import Story

RECORDS = [replace(record, n=record.n + 1) for record in eventful()]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in folder.glob("*/*")}


def one_by_one(records: Sequence[Record], folder: Path) -> dict[str, bytes]:
    """What observers in the driver write."""
    folder.mkdir()
    table = TrialTable()
    observers = [TableKeeper(table), *file_observers(folder, tensorboard=False, table=table)]
    for record in records:
        for observer in observers:
            observer.on_record(record)
    for observer in observers:
        observer.close()
    return snapshot(folder)


@pytest.fixture
def expected(tmp_path) -> dict[str, bytes]:
    return one_by_one(RECORDS, tmp_path / "expected")


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "exp"
    path.mkdir()
    return path


@pytest.fixture
def journal(folder):
    writer = JournalWriter(folder / "journal.jsonl", new_header(1, {}))
    yield writer
    writer.close()


def started(folder: Path, monkeypatch) -> FileWriter:
    """A writer whose process is there."""
    monkeypatch.setattr(file_process, "START_AFTER_S", 0.0)
    monkeypatch.setattr(helper_processes, "LOOK_EVERY_S", 0.0)
    observer = FileWriter(folder)
    observer.flush()
    return observer


def test_a_short_run_writes_its_files_at_the_end(folder, journal, expected) -> None:
    observer = FileWriter(folder, clock=lambda: 0.0)
    for record in RECORDS:
        journal.append([record])
        observer.on_record(record)
        observer.flush()
    assert snapshot(folder) == {}
    observer.close()
    observer.close()
    assert snapshot(folder) == expected


def test_the_process_writes_what_comes_while_it_follows(folder, journal, expected, monkeypatch) -> None:
    middle = len(RECORDS) // 2
    journal.append(RECORDS[:middle])
    observer = started(folder, monkeypatch)
    for record in RECORDS[middle:]:
        journal.append([record])
        observer.flush()
    observer.close()
    observer.flush()
    observer.close()
    assert snapshot(folder) == expected


def test_files_are_written_during_the_run(folder, journal, expected) -> None:
    """They are there while the journal grows, as often as somebody rests."""
    journal.append(RECORDS[:10])
    seen: list[dict[str, bytes]] = []
    rests = iter(RECORDS[10:])

    def rest(seconds: float) -> None:
        for thread in file_threads():
            thread.join(0.0)
        seen.append(snapshot(folder))
        journal.append([next(rests)])

    def file_threads() -> list:
        import threading

        return [one for one in threading.enumerate() if one.name == "overtone-files"]

    write_files(FolderMark.of(folder), lambda: len(seen) == len(RECORDS) - 10, rest)
    assert snapshot(folder) == expected


ODD = {
    3: {"loss": math.nan},
    50: {"loss": math.inf, "note": "a new column"},
    100: {"note": 'quotes ", a brace }\nand a line, %s and "__float__"'},
    150: {"nested": {"a": 1, "timesteps_total": 2}},
    200: {"loss": 3},
    201: {"loss": None},
    202: {"timesteps_total": 7},
}
"""Results that are not like the others, by their number."""


@pytest.mark.parametrize("adds", [{"timesteps_total": None}, {}])
def test_many_results_at_once_are_written_as_one_by_one(folder, journal, tmp_path, adds) -> None:
    story = Story()
    trials = [story.add({"lr": 0.1, "name": "50 %"}), story.add({"lr": 0.2, "name": "x"})]
    for trial in trials:
        story.start(trial)
    for i in range(300):
        for trial in trials:
            story.report(
                trial, **{"loss": 1 / (i + 1), "date": "2026-01-01", "n": i, **adds, **ODD.get(i, {})}
            )
    for trial in trials:
        story.end(trial)
    records = [replace(record, n=record.n + 1) for record in story.records]
    journal.append(records)
    write_files(FolderMark.of(folder))
    assert snapshot(folder) == one_by_one(records, tmp_path / "expected")


def test_what_goes_wrong_there_is_told_here(folder, journal, monkeypatch) -> None:
    (folder / "358bb_00000").write_text("in the way")
    journal.append(RECORDS)
    observer = started(folder, monkeypatch)
    with pytest.raises(StorageError, match="files of trials below .* cannot be written: StorageError"):
        observer.close()
    observer.close()


def test_a_process_that_was_killed_is_noticed(folder, journal, monkeypatch) -> None:
    observer = started(folder, monkeypatch)
    assert observer._process is not None
    os.kill(observer._process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, observer._process.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(StorageError, match="exit code -9"):
        observer.flush()
    observer.flush()
    observer.close()


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_child_of_the_driver_that_lives_on_does_not_hold_up_the_end(
    folder, journal, expected, monkeypatch
) -> None:
    observer = started(folder, monkeypatch)
    child = os.fork()  # it has all descriptors of this process, such as the other end of a pipe
    if not child:
        signal.pause()
        os._exit(0)
    try:
        journal.append(RECORDS)
        observer.close()
        assert snapshot(folder) == expected
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_stopped_process_goes_on_at_the_end(folder, journal, expected, monkeypatch) -> None:
    observer = started(folder, monkeypatch)
    os.kill(observer._process.pid, signal.SIGSTOP)
    journal.append(RECORDS)
    observer.close()
    assert snapshot(folder) == expected


def test_modules_of_the_current_folder_are_not_imported(
    folder, journal, expected, tmp_path, monkeypatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    monkeypatch.chdir(tmp_path)
    observer = started(folder, monkeypatch)
    journal.append(RECORDS)
    observer.close()
    assert snapshot(folder) == expected


def test_nothing_is_written_into_another_folder_at_the_path(folder, journal, monkeypatch) -> None:
    journal.append(RECORDS)
    mark = FolderMark.of(folder)
    journal.close()
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    other = JournalWriter(folder / "journal.jsonl", new_header(2, {}))
    other.append(RECORDS)
    other.close()
    with pytest.raises(FolderGoneError):
        write_files(mark)
    monkeypatch.setattr(file_process, "START_AFTER_S", 0.0)
    observer = FileWriter(folder)
    observer._mark = mark
    with pytest.raises(FolderGoneError):
        observer.flush()
    assert snapshot(folder) == {}
