"""Output that is kept in the trials' folders: what is there, what is bounded, and whose files survive."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from dataclasses import replace

import pytest

from overtone.core.job import Job
from overtone.engines import kept_output
from overtone.engines.kept_output import KeptOutput
from overtone.reading.output_lines import KeptLines
from overtone.reading.trial_output import NEWEST, OLDER, PART_BYTES
from overtone.store.folder_mark import FolderMark

TRIAL = "a1b2c_00000"


@pytest.fixture
def job(tmp_path):
    return Job(trainable=None, name="train", folder=tmp_path, mark=FolderMark(str(tmp_path)))


@pytest.fixture
def kept(job):
    """Writes when it is told to, in this thread."""
    kept = KeptOutput(job)
    kept._is_awake = True  # no thread is woken
    yield kept
    kept.close()


def put(kept, *pieces):
    for stream, *lines in pieces:
        kept.put(TRIAL, stream, list(lines))
    kept._write_waiting()


def read(folder):
    with closing(KeptLines(folder / TRIAL, TRIAL)) as source:
        return [(stream, line.decode()) for stream, line in source.lines(is_last=True)]


def test_both_streams_in_their_order(kept, tmp_path):
    put(kept, ("stdout", "one"), ("stderr", "two"), ("stdout", "three", "four"))
    put(kept, ("stdout", "five"))
    assert (tmp_path / TRIAL / NEWEST).read_text().splitlines() == [
        f"==> stdout of trial {TRIAL} <==", "one",
        f"==> stderr of trial {TRIAL} <==", "two",
        f"==> stdout of trial {TRIAL} <==", "three", "four", "five",
    ]  # fmt: skip
    assert [stream for stream, _ in read(tmp_path)] == ["stdout", "stderr", "stdout", "stdout", "stdout"]


def test_the_thread_writes_all_until_close(job, tmp_path):
    kept = KeptOutput(job)
    for i in range(1000):
        kept.put(TRIAL, "stdout", [str(i)])
    kept.close()
    assert read(tmp_path) == [("stdout", str(i)) for i in range(1000)]


def test_nothing_is_made_for_a_trial_that_prints_nothing(job, tmp_path):
    KeptOutput(job).close()
    assert not list(tmp_path.iterdir())


def test_the_last_megabyte_is_there_and_not_much_more(kept, tmp_path):
    lines = [f"{i} {'x' * 90}" for i in range(60_000)]
    for i in range(0, len(lines), 500):
        put(kept, ("stdout", *lines[i : i + 500]))
    found = [line for _, line in read(tmp_path)]
    assert found == lines[-len(found) :]
    assert sum(len(line) + 1 for line in found) >= PART_BYTES
    assert sum(one.stat().st_size for one in (tmp_path / TRIAL).iterdir()) < 2 * PART_BYTES + 100_000


def test_an_attempt_under_another_driver_appends(kept, job, tmp_path):
    put(kept, ("stderr", "first"))
    put(KeptOutput(job), ("stdout", "second"))
    assert read(tmp_path) == [("stderr", "first"), ("stdout", "second")]


def test_a_line_that_a_kill_tore_ends_where_it_is(kept, job, tmp_path):
    put(kept, ("stdout", "first"))
    with (tmp_path / TRIAL / NEWEST).open("a") as file:
        file.write("to")
    put(KeptOutput(job), ("stdout", "second"))
    assert [line for _, line in read(tmp_path)] == ["first", "to", "second"]


@pytest.mark.parametrize("name", [NEWEST, OLDER])
def test_a_file_of_the_trials_own_survives(kept, tmp_path, name):
    (tmp_path / TRIAL).mkdir()
    (tmp_path / TRIAL / name).write_text("mine\n")
    for _ in range(3):
        put(kept, ("stdout", "x" * PART_BYTES))
    put(kept, ("stdout", "last"))
    assert (tmp_path / TRIAL / name).read_text() == "mine\n"
    if name == OLDER:
        assert read(tmp_path)[-1] == ("stdout", "last")


def test_a_link_is_not_followed(kept, tmp_path):
    (tmp_path / TRIAL).mkdir()
    (tmp_path / "other").write_text("")
    (tmp_path / TRIAL / NEWEST).symlink_to(tmp_path / "other")
    put(kept, ("stdout", "line"))
    assert (tmp_path / "other").read_text() == ""


def test_a_full_disk_loses_output_and_says_so(kept, tmp_path, monkeypatch):
    put(kept, ("stdout", "before"))
    write = os.write

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept_output.os, "write", full)
    put(kept, ("stdout", "lost"))
    monkeypatch.setattr(kept_output.os, "write", write)
    put(kept, ("stdout", "after"))
    assert [line for _, line in read(tmp_path)] == [
        "before", "[output is missing here: No space left on device]", "after",
    ]  # fmt: skip


def test_a_disk_that_does_not_answer_bounds_what_waits(kept, monkeypatch, tmp_path):
    monkeypatch.setattr(kept_output, "MOST_WAITING", 2)
    for i in range(5):
        kept.put(TRIAL, "stdout", [str(i)])
    kept._write_waiting()
    assert [line for _, line in read(tmp_path)][1:] == ["0", "1"]
    assert read(tmp_path)[0] == ("stdout", "[output is missing here: the disk did not answer]")


def test_nothing_is_written_into_a_folder_that_was_deleted(kept, tmp_path):
    tmp_path.rmdir()
    put(kept, ("stdout", "line"))
    assert not tmp_path.exists()
    tmp_path.mkdir()


@pytest.mark.parametrize("changes", [{"captures_output": False}, {"log_to_file": ("a", "b")}, {"mark": None}])
def test_output_is_not_kept_where_it_goes_elsewhere(job, changes):
    assert kept_output.kept_output(replace(job, **changes)) is None
