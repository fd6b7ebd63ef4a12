"""Folders go with the last process that holds them, and those of killed processes with the next one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.worker.checkpoints import held_folders


@pytest.fixture
def hold(processes):
    """Holds a folder, with a file in it, in a process that goes on for ever; returns its pid."""

    def hold(folder: Path) -> int:
        def act() -> None:
            held_folders.hold(folder)
            (folder / "half-saved").write_text("1")

        return processes.start(act)

    return hold


def test_the_folders_of_killed_processes_go_and_those_of_living_ones_stay(tmp_path, hold, processes) -> None:
    yard = tmp_path / "yard"
    killed, _ = hold(yard / "killed"), hold(yard / "living")
    processes.kill(killed)
    assert (yard / "killed" / "half-saved").exists()
    lock = held_folders.hold(yard / "new")
    assert sorted(one.name for one in yard.iterdir()) == [".lock", "living", "new"]
    held_folders.let_go(yard / "new", lock)
    assert sorted(one.name for one in yard.iterdir()) == [".lock", "living"]


def test_what_a_killed_process_left_in_the_same_folder_goes_too(tmp_path, hold, processes) -> None:
    folder = tmp_path / "yard" / "run"
    processes.kill(hold(folder))
    held_folders.hold(folder)
    assert [one.name for one in folder.iterdir()] == [".lock"]


def test_a_folder_that_another_process_holds_too_stays_until_that_one_lets_go(
    tmp_path, hold, processes
) -> None:
    folder = tmp_path / "yard" / "run"
    other = hold(folder)
    held_folders.let_go(folder, held_folders.hold(folder))
    assert (folder / "half-saved").exists()
    processes.kill(other)
    held_folders.let_go(folder, held_folders.hold(folder))
    assert not folder.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_yard_of_another_user_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "yard").mkdir()
    os.chown(tmp_path / "yard", 12345, -1)
    with pytest.raises(StorageError, match="must be a directory that belongs to user 0"):
        held_folders.hold(tmp_path / "yard" / "run")
