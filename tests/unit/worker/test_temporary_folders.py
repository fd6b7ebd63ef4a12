"""The folders of `Checkpoint.from_dict` go with their process, however it ends."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from overtone.worker.checkpoints import temporary_folders
from overtone.worker.checkpoints.checkpoint import Checkpoint


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary_folders, "_home", None)
    return tmp_path


def checkpoints(temporary: Path) -> list[Path]:
    return sorted(temporary.glob("**/checkpoint_*"))


def make() -> None:
    made = Checkpoint.from_dict({"a": 1})
    kept.append(made)
    assert made.to_dict() == {"a": 1}


kept: list[Checkpoint] = []
"""Of the forks: a checkpoint's folder goes with the last reference to it."""


def test_those_of_killed_processes_go_at_the_next_start_and_others_stay(temporary: Path, processes) -> None:
    (temporary / "checkpoint_of_somebody").mkdir()
    (temporary / "overtone_checkpoint_abc").mkdir()  # of to_directory(): the user's
    processes.kill(processes.start(make))
    (_, killed) = checkpoints(temporary)
    processes.start(make)
    assert not killed.exists()
    assert len(checkpoints(temporary)) == 2
    own = Checkpoint.from_dict({"b": 2})
    assert len(checkpoints(temporary)) == 3
    assert own.to_dict() == {"b": 2}
    assert (temporary / "overtone_checkpoint_abc").is_dir()
    del own
    assert len(checkpoints(temporary)) == 2


def test_a_fork_has_a_folder_of_its_own(temporary: Path, processes) -> None:
    own = Checkpoint.from_dict({"b": 2})
    processes.kill(processes.start(make))
    assert own.to_dict() == {"b": 2}
    homes = {one.parent for one in checkpoints(temporary)}
    assert len(homes) == 2


def test_a_home_that_somebody_deleted_is_made_again(temporary: Path) -> None:
    import shutil

    first = Checkpoint.from_dict({"a": 1})
    shutil.rmtree(Path(first.path).parent)
    assert Checkpoint.from_dict({"a": 2}).to_dict() == {"a": 2}
