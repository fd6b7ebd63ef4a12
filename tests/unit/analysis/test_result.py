from __future__ import annotations

import pytest

from overtone.analysis import ExperimentAnalysis, Result
from overtone.errors import GoalError, StorageError, TuneError


def test_what_came_of_a_trial(told):
    trial = told.add({"lr": 1})
    told.start(trial)
    told.report(trial, loss=2, checkpoint=told.at(trial, 1))
    told.report(trial, loss=1, checkpoint=told.at(trial, 2))
    told.report(trial, loss=3, checkpoint=told.at(trial, 3))
    told.end(trial)
    result = Result(ExperimentAnalysis(told.write()).trials[0], "loss", "min")
    assert (result.metrics["loss"], result.metrics["config"], result.config) == (3, {"lr": 1}, {"lr": 1})
    assert result.error is None
    assert result.path == str(told.folder / trial)
    assert result.metrics_dataframe["loss"].tolist() == [2, 1, 3]
    assert [metrics["loss"] for _, metrics in result.best_checkpoints] == [2, 1, 3]
    assert result.checkpoint.path.endswith("checkpoint_000003")
    assert result.get_best_checkpoint().path.endswith("checkpoint_000002")
    assert result.get_best_checkpoint("loss", "max").path.endswith("checkpoint_000003")
    with pytest.raises(GoalError, match="did you mean 'loss'"):
        result.get_best_checkpoint("los", "max")
    assert repr(result) == f"Result({trial} TERMINATED, 3 results, path='{told.folder / trial}')"


def test_a_failure_is_an_error_with_the_users_traceback(told):
    trial = told.add({})
    told.start(trial)
    told.fail(trial, "KeyError: 'x'", "Traceback (most recent call last):\nKeyError: 'x'")
    result = Result(ExperimentAnalysis(told.write()).trials[0])
    assert isinstance(result.error, TuneError)
    assert str(result.error).startswith(f"trial {trial} failed: KeyError: 'x'\nTraceback")
    assert result.metrics == {}
    assert result.checkpoint is None


def test_from_the_trials_folder(told):
    trial = told.run({"lr": 1}, {"loss": 2})
    told.write()
    assert Result.from_path(told.folder / trial).metrics["loss"] == 2


def test_from_a_folder_that_is_no_trials(told, tmp_path):
    told.write()
    with pytest.raises(StorageError, match="has no trial 'x'"):
        Result.from_path(told.folder / "x")
    with pytest.raises(StorageError, match="no folder of a trial"):
        Result.from_path(tmp_path / "y")
