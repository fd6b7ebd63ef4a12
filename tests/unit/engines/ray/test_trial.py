"""A trial that is an actor keeps its files in a folder of its own, if its node has another disk."""

from __future__ import annotations

from pathlib import Path

from overtone.core.job import Job
from overtone.engines.ray.trial import _at_home


def test_the_folder_goes_with_the_trial_and_those_of_killed_trials_with_the_next(tmp_path: Path) -> None:
    yard = tmp_path / "yard"
    (yard / "run-77-left").mkdir(parents=True)
    job = Job(print, "train", yard / "run" / "train")
    with _at_home(job, False) as mine, _at_home(job, False) as other:
        assert {mine.folder.parents[1], other.folder.parents[1]} == {yard}
        assert mine.folder != other.folder
        assert len([one for one in yard.iterdir() if one.is_dir()]) == 2
    assert [one.name for one in yard.iterdir()] == [".lock"]
    with _at_home(job, True) as shared:
        assert shared is job
