"""One trial's checkpoints on their way to the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.job import Job
from overtone.testing.fake_channel import start
from overtone.testing.folder_store import FolderStore
from overtone.worker.checkpoints.trial_checkpoints import TrialCheckpoints
from overtone.worker.session_counts import Counts


@pytest.fixture
def keeper(tmp_path: Path) -> TrialCheckpoints:
    return TrialCheckpoints(Job(None, "train", tmp_path / "exp", store=FolderStore(tmp_path / "store")), start())


def counts() -> Counts:
    return Counts({}, lambda: 0.0)


def test_it_knows_what_it_kept_last(keeper: TrialCheckpoints, tmp_path: Path) -> None:
    (tmp_path / "model").write_text("7")
    assert keeper.t == -1
    kept = keeper.keep(tmp_path / "model", 3, counts())
    assert (kept.t, keeper.t) == (3, 3)
    assert Path(kept.uri, "model").read_text() == "7"


def test_what_a_killed_attempt_left_unfinished_goes_with_the_next(tmp_path: Path) -> None:
    job = Job(None, "train", tmp_path / "exp", store=FolderStore(tmp_path / "store"))
    left = job.folder / "t" / ".saving_1_0123456789ab"
    (left / "deep").mkdir(parents=True)
    TrialCheckpoints(job, start())
    assert left.exists(), "a first attempt has nothing to look for"
    TrialCheckpoints(job, start(attempt=1))
    assert list((job.folder / "t").iterdir()) == []


def test_only_the_last_collected_directory_waits(keeper: TrialCheckpoints) -> None:
    for text in ("old", "new"):
        with keeper.collected() as folder:
            (folder / "model").write_text(text)
    assert keeper.has_pending
    kept = keeper.keep_pending(1, counts())
    assert kept is not None
    assert Path(kept.uri, "model").read_text() == "new"
    assert not keeper.has_pending
    assert keeper.keep_pending(1, counts()) is None
    assert list((keeper._job.folder / "t").iterdir()) == []
