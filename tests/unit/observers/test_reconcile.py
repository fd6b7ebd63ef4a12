"""Files that a crash left shorter or longer than the journal are mended, and then followed on."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from overtone.core.messages import Moved, Reported
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.header import driver_facts, new_header
from overtone.observers.projections import file_observers, rebuild, reconcile
from overtone.observers.repair.file_audit import RECENT_S
from overtone.observers.table_keeper import TableKeeper
from overtone.reading.journal_index import JournalIndex
from overtone.testing.observer_conformance import eventful
from overtone.testing.scripted_records import Story

PARTS = {"engine": "Local"}
RECORDS = [replace(record, n=record.n + 1) for record in eventful()]
GOOD = "358bb_00000"


def write_journal(folder: Path, records, parts=PARTS) -> None:
    codec = Codec()
    lines = [codec.encode_fact(1, "header", new_header(1, parts)), *map(codec.encode, records)]
    folder.mkdir(exist_ok=True)
    (folder / "journal.jsonl").write_bytes(b"".join(lines))


def observe(observers, records) -> None:
    for record in records:
        for observer in observers:
            observer.on_record(record)
    for observer in observers:
        observer.close()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in folder.glob("*/*")
        if not path.name.startswith("events")
    }


def writing(folder: Path, **options) -> list[Observer]:
    table = TrialTable()
    return [TableKeeper(table), *file_observers(folder, table=table, **options)]


def mended(folder: Path, **options) -> list[Observer]:
    index = JournalIndex(folder / "journal.jsonl")
    index.refresh()
    return [TableKeeper(index.table), *reconcile(folder, table=index.table, **options)]


def files_of(folder: Path, records) -> dict[str, bytes]:
    folder.mkdir()
    observe(writing(folder, tensorboard=False), records)
    return snapshot(folder)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The files after each number of records."""
    root = tmp_path_factory.mktemp("expected")
    return [files_of(root / str(count), RECORDS[:count]) for count in range(len(RECORDS) + 1)]


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


@pytest.mark.parametrize("in_journal", range(len(RECORDS) + 1))
def test_whatever_was_written_the_files_follow_the_journal(tmp_path, expected, in_journal) -> None:
    random = Random(in_journal)
    for number, in_files in enumerate(
        {0, max(0, in_journal - 3), random.randrange(len(RECORDS)), len(RECORDS)}
    ):
        folder = tmp_path / str(number)
        write_journal(folder, RECORDS[:in_journal])
        put(folder, expected[in_files])
        observers = mended(folder, tensorboard=False)
        assert snapshot(folder) == expected[in_journal]
        observe(observers, RECORDS[in_journal:])
        assert snapshot(folder) == expected[-1]


def test_any_torn_file_is_mended(tmp_path, expected) -> None:
    write_journal(tmp_path, RECORDS)
    random = Random(7)
    for name, data in expected[-1].items():
        torn = [
            data[: random.randrange(len(data))] + end
            for end in (b"", bytes(700), b'{"half')
            for _ in range(2)
        ]
        for text in (*torn, b"", data + data[-30:]):
            put(tmp_path, {**expected[-1], name: text})
            reconcile(tmp_path, tensorboard=False)
            assert snapshot(tmp_path) == expected[-1], (name, text)


def test_what_is_whole_is_not_touched(tmp_path, expected) -> None:
    write_journal(tmp_path, RECORDS)
    put(tmp_path, expected[-1])
    before = {path: path.stat().st_ino for path in tmp_path.glob("*/*")}
    reconcile(tmp_path, tensorboard=False)
    assert {path: path.stat().st_ino for path in tmp_path.glob("*/*")} == before


def test_trials_that_the_journal_lost_leave_no_results(tmp_path, expected) -> None:
    """Trials of the same names come again, and their observers append."""
    write_journal(tmp_path, RECORDS[:1])
    put(tmp_path, expected[-1])
    (tmp_path / GOOD / "checkpoint_000001").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "result.json").write_text("mine")
    observers = mended(tmp_path, tensorboard=False)
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*"))
    assert left == [f"{GOOD}/checkpoint_000001", "mine/result.json"]
    observe(observers, RECORDS[1:])
    (tmp_path / GOOD / "checkpoint_000001").rmdir()
    shutil.rmtree(tmp_path / "mine")
    assert snapshot(tmp_path) == expected[-1]


def long_ago() -> list:
    """Two trials of the same kind: one ended long before the other."""
    story = Story()
    story.capacity(cpu=4.0)
    for _ in range(2):
        story.time += RECENT_S + 10
        trial = story.add({"lr": 0.1})
        story.start(trial)
        for loss in range(3):
            story.report(trial, loss=loss)
        story.end(trial)
    return [replace(record, n=record.n + 1) for record in story.records]


@pytest.mark.parametrize(("engine", "is_mended"), [("Local", False), ("Simulated", True)])
def test_what_ended_long_ago_is_only_looked_at(tmp_path, engine, is_mended) -> None:
    """Its files are long on the disk, unless the clock was not that of the disk."""
    records = long_ago()
    write_journal(tmp_path, records, {"engine": engine})
    rebuild(tmp_path)
    whole = snapshot(tmp_path)
    old, new = "358bb_00000/result.json", "358bb_00001/result.json"
    for name in (old, new):
        (tmp_path / name).write_bytes(whole[name][:-20])
    reconcile(tmp_path, tensorboard=False)
    assert (tmp_path / new).read_bytes() == whole[new]
    assert ((tmp_path / old).read_bytes() == whole[old]) is is_mended
    reconcile(tmp_path, tensorboard=False, trusts_old=False)  # after a run whose files were not written
    assert snapshot(tmp_path) == whole
    for name in whole:
        (tmp_path / name).unlink()
    reconcile(tmp_path, tensorboard=False)
    assert snapshot(tmp_path) == whole


def test_half_written_files_of_an_earlier_mending_are_removed(tmp_path, expected) -> None:
    write_journal(tmp_path, RECORDS)
    put(tmp_path, {**expected[-1], f"{GOOD}/result.json": b"", f"{GOOD}/result.json.new": b"half"})
    reconcile(tmp_path, tensorboard=False)
    assert snapshot(tmp_path) == expected[-1]


def test_files_that_cannot_be_written_are_named(tmp_path) -> None:
    write_journal(tmp_path, RECORDS)
    (tmp_path / GOOD).write_text("in the way")
    with pytest.raises(StorageError, match=f"{GOOD}"):
        reconcile(tmp_path, tensorboard=False)


# --- event files -----------------------------------------------------------------------


def steps(folder: Path, trial: str) -> list[tuple[int, float]]:
    """The (step, wall time) of each result in a trial's event files, oldest file first."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted((folder / trial).glob("events.out.tfevents.*")):
        data = path.read_bytes()
        while data:
            size = int.from_bytes(data[:8], "little")
            event = Event.FromString(data[12 : 12 + size])
            if event.step:
                found.append((event.step, event.wall_time))
            data = data[16 + size :]
    return found


@pytest.fixture(scope="module")
def with_events(tmp_path_factory):
    """The event files after three numbers of records."""
    pytest.importorskip("tensorboardX")
    root = tmp_path_factory.mktemp("events")
    counts = (21, 24, len(RECORDS))
    for count in counts:
        write_journal(root / str(count), RECORDS[:count])
        observe(writing(root / str(count), tensorboard=True), RECORDS[:count])
    return {count: root / str(count) for count in counts}


def shown(records, trial: str) -> list[int]:
    table = TrialTable()
    return [
        record.event.t for record in records if (row := table.apply(record)) is not None and row.id == trial
    ]


@pytest.mark.parametrize(("in_journal", "in_files"), [(24, 21), (21, len(RECORDS)), (24, 24)])
def test_steps_are_neither_lost_nor_doubled(tmp_path, with_events, in_journal, in_files) -> None:
    folder = tmp_path / "experiment"
    shutil.copytree(with_events[in_files], folder)
    write_journal(folder, RECORDS[:in_journal])
    before = {path: path.stat().st_ino for path in folder.glob("*/events*")}
    observers = mended(folder, tensorboard=True)
    if in_journal == in_files:
        assert {path: path.stat().st_ino for path in folder.glob("*/events*")} == before
    with open(folder / "journal.jsonl", "ab") as journal:
        journal.writelines(map(Codec().encode, RECORDS[in_journal:]))
    observe(observers, RECORDS[in_journal:])
    for trial in ("358bb_00000", "358bb_00001"):
        assert [step for step, _ in steps(folder, trial)] == shown(RECORDS, trial)


def test_results_are_dated_by_the_driver_that_saw_them(tmp_path) -> None:
    """The time between two drivers is not counted in the experiment's, but in the world's."""
    pytest.importorskip("tensorboardX")
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, loss=1.0)
    story.time = 10.0
    story.report(trial, loss=2.0)
    first = [replace(record, n=record.n + 1) for record in story.records]
    story.time = 11.0
    story.report(trial, loss=3.0)
    codec = Codec()
    lines = [
        codec.encode_fact(1, "header", {**new_header(1, PARTS), "wall": 1000.0}),
        *map(codec.encode, first),
        codec.encode_fact(len(first) + 2, "driver", {**driver_facts(), "wall": 5000.0}),
        codec.encode(replace(story.records[-1], n=len(first) + 3)),
    ]
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines))
    for observer in reconcile(tmp_path, tensorboard=True):
        observer.close()
    dated = [(1, 1000.0), (2, 1010.0), (3, 5001.0)]
    assert steps(tmp_path, trial) == dated
    rebuild(tmp_path, tensorboard=True)
    assert steps(tmp_path, trial) == dated


def test_a_late_result_of_a_killed_driver_begins_no_file_that_the_next_resume_does_not_count(tmp_path) -> None:
    """A resume takes in a saved result before its trial starts again: the trial's new file begins with it."""
    pytest.importorskip("tensorboardX")
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, loss=1.0)
    n_first = len(story.records)
    story.time = 10.0
    story.report(trial, loss=2.0)
    story.start(trial)
    story.report(trial, loss=3.0)
    n_second = len(story.records)
    story.start(trial)
    story.report(trial, loss=4.0)
    records = [replace(record, n=record.n + 1) for record in story.records]

    def drive(done: int, n: int) -> None:
        """A driver that begins when `done` records are in the journal, and is killed after `n`."""
        write_journal(tmp_path, records[:done])
        observers = mended(tmp_path, tensorboard=True)
        write_journal(tmp_path, records[:n])
        observe(observers, records[done:n])

    drive(0, n_first)
    drive(n_first, n_second)
    before = {path.stat().st_ino for path in (tmp_path / trial).glob("events*")}
    assert len(before) == 2
    drive(n_second, len(records))
    assert [step for step, _ in steps(tmp_path, trial)] == [1, 2, 3, 4]
    assert before <= {path.stat().st_ino for path in (tmp_path / trial).glob("events*")}


def test_the_process_of_a_killed_driver_is_waited_for(tmp_path, monkeypatch, capsys) -> None:
    """It writes what it was sent, and then ends; nobody counts before."""
    fcntl = pytest.importorskip("fcntl")
    from overtone.observers.helper_processes import wait_for_helpers

    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert not wait_for_helpers(os.fspath(tmp_path), patience_s=0.05)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("overtone.observers.helper_processes._TELL_AFTER_S", 0.0)
    assert not wait_for_helpers(os.fspath(tmp_path), patience_s=0.1)
    said = capsys.readouterr().err
    assert said.count("overtone:") == 1
    assert f"still writes files of trials below {tmp_path}" in said
    os.close(other)
    assert wait_for_helpers(os.fspath(tmp_path), patience_s=0.0)


def test_reports_and_ends_are_what_the_story_holds() -> None:
    """The story has what matters here: results that were redone, failures, and an end."""
    kinds = {type(record.event) for record in RECORDS}
    assert Reported in kinds
    assert (
        sum(type(one) is Moved and one.status == "ERROR" for record in RECORDS for one in record.choices) == 1
    )
