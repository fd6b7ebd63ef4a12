from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.observers.trial_files import TrialFiles, write_file


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_text_waits_for_its_time(tmp_path, clock) -> None:
    files = TrialFiles(tmp_path, "x", clock=clock)
    path = tmp_path / "t" / "x"
    files.add("t", "a")
    clock.now = 0.4
    files.flush()
    assert not path.exists()
    clock.now = 0.5
    files.flush()
    assert path.read_text() == "a"
    files.add("t", "b")
    files.flush()
    assert path.read_text() == "a"
    assert files.read("t") == "ab"
    files.close()
    assert path.read_text() == "ab"


def test_finish_writes_at_once(tmp_path, clock) -> None:
    files = TrialFiles(tmp_path, "x", clock=clock)
    files.add("t", "a")
    files.finish("t")
    files.finish("u")
    assert (tmp_path / "t" / "x").read_text() == "a"
    assert not (tmp_path / "u").exists()


def test_few_files_are_open_at_a_time(tmp_path, clock) -> None:
    files = TrialFiles(tmp_path, "x", limit=3, clock=clock)
    before = len(os.listdir("/proc/self/fd"))
    for round_ in range(2):
        for trial in range(10):
            files.add(str(trial), f"{round_}")
        clock.now += 1
        files.flush()
        assert len(os.listdir("/proc/self/fd")) == before + 3
    files.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert [(tmp_path / str(trial) / "x").read_text() for trial in range(10)] == ["01"] * 10


def test_replace_swaps_what_was_written_and_what_waits(tmp_path, clock) -> None:
    files = TrialFiles(tmp_path, "x", clock=clock)
    files.add("t", "a")
    files.replace("t", "b")
    assert files.read("t") == "b"
    files.finish("t")
    files.add("t", "c")
    files.replace("t", files.read("t").upper())
    files.add("t", "d")
    files.close()
    assert (tmp_path / "t" / "x").read_text() == "BCd"
    assert os.listdir(tmp_path / "t") == ["x"]


def test_a_full_disk_says_that_the_journal_has_it(tmp_path, monkeypatch) -> None:
    files = TrialFiles(tmp_path, "x")
    files.add("t", "a")

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    for write in (lambda: files.finish("t"), lambda: write_file(str(Path(tmp_path, "y")), "a")):
        with pytest.raises(
            StorageError, match=r"cannot be written: No space left.*journal has every result.*rebuild"
        ):
            write()


def test_write_file_replaces_or_appends(tmp_path) -> None:
    path = str(tmp_path / "t" / "x")
    write_file(path, "abc")
    write_file(path, "d")
    write_file(path, "e\ud800", append=True)
    assert Path(path).read_text() == "de\\ud800"
