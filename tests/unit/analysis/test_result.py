from __future__ import annotations

from dataclasses import replace

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
    assert result.log_dir == told.folder / trial
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
    assert isinstance(result.error, KeyError)
    assert (result.error.trial_id, result.error.type_name, result.error.text) == (trial, "KeyError", "'x'")
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
    with pytest.raises(StorageError, match="not the folder of a trial"):
        Result.from_path(tmp_path / "y")


def test_a_trial_that_was_tried_again_has_no_error(told):
    trial = told.add({})
    told.start(trial)
    told.fail(trial, "KeyError: 'x'", "Traceback\nKeyError: 'x'")
    told.records[-1] = replace(
        told.records[-1], choices=(replace(told.records[-1].choices[0], status="PENDING", error=""),)
    )
    told.start(trial)
    told.report(trial, loss=1)
    told.end(trial)
    found = ExperimentAnalysis(told.write()).trials[0]
    assert (found.num_failures, Result(found).error) == (1, None)


def test_what_it_holds_stays_as_it_is(told):
    trial = told.add({"lr": 1})
    told.start(trial)
    told.report(trial, loss=2)
    analysis = ExperimentAnalysis(told.write())
    result = Result(analysis.trials[0])
    assert result.metrics is result.metrics
    told.report(trial, loss=1)
    told.write()
    analysis.refresh()
    assert (result.metrics["loss"], Result(analysis.trials[0]).metrics["loss"]) == (2, 1)


def test_without_a_checkpoint_none_is_the_best(told):
    told.run({"lr": 1}, {"loss": 2})
    result = Result(ExperimentAnalysis(told.write()).trials[0])
    for kind in (GoalError, RuntimeError):
        with pytest.raises(kind, match="has no checkpoint"):
            result.get_best_checkpoint("loss", "min")


def test_a_metric_of_results_without_checkpoints_is_not_that_of_a_checkpoint(told):
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=2, checkpoint=told.at(trial, 1))
    told.report(trial, accuracy=1)
    result = Result(ExperimentAnalysis(told.write()).trials[0])
    with pytest.raises(RuntimeError, match="'accuracy'; there are 'loss'"):
        result.get_best_checkpoint("accuracy", "max")
    with pytest.raises(ValueError, match="mode='up'"):
        result.get_best_checkpoint("loss", "up")


def test_one_that_is_made_of_values():
    result = Result(metrics={"loss": 1, "config": {"lr": 2}}, path="/x", error=None, checkpoint=None)
    assert (result.metrics["loss"], result.config, result.path, result.error) == (1, {"lr": 2}, "/x", None)
    assert result.best_checkpoints is result.metrics_dataframe is None
    assert repr(result).startswith("Result(metrics={'loss': 1")
    with pytest.raises(RuntimeError, match="no checkpoint"):
        result.get_best_checkpoint("loss", "min")
    with pytest.raises(TypeError, match="'metric'"):
        Result(metric={})


def test_a_value_replaces_that_of_the_trial(told):
    told.run({"lr": 1}, {"loss": 2})
    result = Result(ExperimentAnalysis(told.write()).trials[0], path="/elsewhere")
    assert (result.path, result.metrics["loss"], result.config) == ("/elsewhere", 2, {"lr": 1})
