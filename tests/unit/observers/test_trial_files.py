"""Text files in trials' folders, written in batches by a thread."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.observers import file_output
from overtone.observers.file_output import write_file
from overtone.observers.files import trial_files
from overtone.observers.files.trial_files import TrialFiles
from overtone.store import room


@pytest.fixture
def soon(monkeypatch) -> None:
    monkeypatch.setattr(trial_files, "EVERY_S", 0.01)


def wait_for(path: Path, text: str) -> None:
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_text() == text):
        assert time.monotonic() < deadline, f"{path} never held {text!r}"
        time.sleep(0.005)


def test_text_is_written_though_nobody_comes_back(tmp_path, soon) -> None:
    files = TrialFiles(tmp_path)
    path = tmp_path / "t" / "x"
    files.add("t", "x", "a")
    files.flush()
    wait_for(path, "a")
    files.add("t", "x", "b")
    files.flush()
    wait_for(path, "ab")
    files.close()


def test_nothing_is_written_before_it_was_handed_over(tmp_path) -> None:
    files = TrialFiles(tmp_path)
    files.add("t", "x", "a")
    assert os.listdir(tmp_path) == []
    files.close()
    assert (tmp_path / "t" / "x").read_text() == "a"


def test_a_batch_opens_each_file_once(tmp_path, monkeypatch) -> None:
    opened: list[str] = []
    real = os.open

    def counting(path, *args):
        opened.append(os.path.basename(path))
        return real(path, *args)

    files = TrialFiles(tmp_path)
    for i in range(10):
        files.add("t", "x", f"{i}")
        files.add("t", "y", f"{i}")
        files.flush()
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(os, "open", counting)
    files.close()
    assert opened == ["x", "y"]
    assert (tmp_path / "t" / "x").read_text() == (tmp_path / "t" / "y").read_text() == "0123456789"


def test_where_it_is_prompt_all_is_written_when_it_settles(tmp_path) -> None:
    for is_prompt in (True, False):
        (tmp_path / str(is_prompt)).mkdir()
        files = TrialFiles(tmp_path / str(is_prompt), is_prompt=is_prompt)
        files.add("t", "x", "a")
        files.settle()
        assert (tmp_path / str(is_prompt) / "t" / "x").exists() is is_prompt
        files.add("t", "x", "b")
        files.close()
        assert (tmp_path / str(is_prompt) / "t" / "x").read_text() == "ab"


def test_what_is_changed_is_what_was_written_and_what_waits(tmp_path) -> None:
    files = TrialFiles(tmp_path)
    files.add("t", "x", "a")
    files.change("t", "x", str.upper)
    assert files.read("t", "x") == "A"
    files.add("t", "x", "b")
    files.change("t", "x", lambda text: f"<{text}>")
    files.add("t", "x", "c")
    files.change("t", "x", lambda text: f"{text}!")
    files.add("t", "x", "d")
    assert files.read("t", "x") == "<Ab>c!d"
    files.put("t", "x", "e")
    files.add("u", "x", "f")
    files.close()
    assert (tmp_path / "t" / "x").read_text() == "e"
    assert os.listdir(tmp_path / "t") == ["x"]
    assert files.read("u", "x") == "f"
    assert files.read("v", "x") == ""


def test_what_a_link_names_is_not_written(tmp_path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "t" / "x").symlink_to(tmp_path / "mine")
    files = TrialFiles(tmp_path)
    files.add("t", "x", "a")
    with pytest.raises(StorageError):
        files.close()
    files = TrialFiles(tmp_path)
    files.put("t", "x", "a")
    files.close()
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "t" / "x").read_text() == "a"


def test_a_full_disk_says_that_the_journal_has_it(tmp_path, monkeypatch) -> None:
    files = TrialFiles(tmp_path)
    files.add("t", "x", "a")

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(room, "PATIENCE_S", 0.0)
    for write in (files.close, lambda: write_file(str(Path(tmp_path, "y")), "a")):
        with pytest.raises(
            StorageError, match=r"cannot be written: No space left.*journal has every result.*rebuild"
        ):
            write()


def test_a_full_disk_is_waited_for_once_until_a_file_is_whole_again(tmp_path, monkeypatch) -> None:
    waits: list[str] = []
    write, paths = os.write, [str(tmp_path / name) for name in "abc"]

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def in_vain(action):
        waits.append("60 s")
        return action()

    monkeypatch.setattr(file_output, "_has_waited_in_vain", False)
    monkeypatch.setattr(file_output, "try_for_room", in_vain)
    for room_again in (False, True):
        monkeypatch.setattr(os, "write", full)
        for path in paths:
            with pytest.raises(StorageError):
                write_file(path, "text")
        assert len(waits) == 1 + room_again
        monkeypatch.setattr(os, "write", write)
        write_file(paths[0], "text")


@pytest.mark.parametrize("is_prompt", [True, False])
def test_what_fails_is_told_once_and_hinders_no_other_file(tmp_path, is_prompt) -> None:
    (tmp_path / "t").write_text("in the way")
    files = TrialFiles(tmp_path, is_prompt=is_prompt)
    for trial in "stu":
        files.add(trial, "x", "a")
    with pytest.raises(StorageError, match="Not a directory"):
        files.settle() if is_prompt else files.close()
    files.add("s", "x", "b")
    files.flush()
    files.settle()
    files.close()
    assert [(tmp_path / trial / "x").read_text() for trial in "su"] == ["a", "a"]


def test_nobody_at_the_other_end_of_a_pipe_is_waited_for(tmp_path) -> None:
    (tmp_path / "t").mkdir()
    for name in ("x", "y"):
        os.mkfifo(tmp_path / "t" / name)
    files = TrialFiles(tmp_path)
    files.put("t", "y", "a")
    files.close()
    assert (tmp_path / "t" / "y").read_text() == "a"
    files.add("t", "x", "a")
    with pytest.raises(StorageError):
        files.close()


def test_much_text_does_not_wait(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(trial_files, "MOST_CHARACTERS", 10)
    files = TrialFiles(tmp_path)
    for text in ("abcd", "efgh", "ijkl"):
        files.add("t", "x", text)
        files.flush()
        assert (tmp_path / "t" / "x").exists() is (text == "ijkl")
    assert (tmp_path / "t" / "x").read_text() == "abcdefghijkl"


def test_a_change_that_raises_is_told(tmp_path) -> None:
    files = TrialFiles(tmp_path)
    files.change("t", "x", lambda text: text[1])
    with pytest.raises(IndexError):
        files.close()


def test_write_file_replaces_or_appends(tmp_path) -> None:
    path = str(tmp_path / "t" / "x")
    write_file(path, "abc")
    write_file(path, "d")
    write_file(path, "e\ud800", append=True)
    assert Path(path).read_text() == "de\\ud800"
