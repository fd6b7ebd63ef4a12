"""The lock that one process of a machine has at a time."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.worker.session import once_per_machine as module
from overtone.worker.session.once_per_machine import once


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    return tmp_path / f"overtone-once-{os.getuid()}"


def test_the_first_one_is_told_so() -> None:
    flags = []
    for name in ("mnist", "mnist", "other"):
        with once(name) as is_first:
            flags.append(is_first)
    assert flags == [True, False, True]


def test_one_that_failed_was_not_the_first() -> None:
    with pytest.raises(RuntimeError), once("mnist"):
        raise RuntimeError
    with once("mnist") as is_first:
        assert is_first


def test_the_lock_is_held_inside_the_block_and_not_after(folder: Path) -> None:
    def is_free() -> bool:
        with (folder / "mnist.lock").open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    with once("mnist"):
        assert not is_free()
    assert is_free()


def test_of_eight_that_start_together_one_does_the_work() -> None:
    done: list[int] = []

    def trial(i: int) -> None:
        with once("data"):
            if not done:
                done.append(i)

    threads = [threading.Thread(target=trial, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "x" * 1000, "é", ""])
def test_any_name_is_a_file_in_its_place(folder: Path, name: str) -> None:
    with once(name):
        pass
    assert len(list(folder.iterdir())) == 1


def test_long_names_with_the_same_beginning_differ() -> None:
    assert module._as_file_name("x" * 1000) != module._as_file_name("x" * 1001)


def test_a_directory_of_somebody_else_is_refused(folder: Path) -> None:
    folder.symlink_to(folder.parent)
    with pytest.raises(StorageError, match="belongs to user"), once("mnist"):
        pass


def test_a_block_inside_of_the_block_does_not_wait_for_itself() -> None:
    flags = []
    with once("mnist") as outer, once("mnist") as inner, once("other") as other:
        flags += [outer, inner, other]
    with once("mnist") as again:
        flags.append(again)
    assert flags == [True, True, True, False]
