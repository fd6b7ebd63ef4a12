from __future__ import annotations

import shutil
from math import isnan, nan

import pytest

from overtone.analysis import ExperimentAnalysis


def trial_of(told, number=0):
    return ExperimentAnalysis(told.write()).trials[number]


def test_what_a_trial_is(told):
    name = told.run({"lr": 1}, {"loss": 3})
    trial = trial_of(told)
    assert (trial.trial_id, trial.index, trial.experiment_tag, trial.config) == (name, 0, "0", {"lr": 1})
    assert trial.status == "TERMINATED"
    assert trial.is_finished()
    assert trial.num_results == 1
    assert trial.logdir == trial.local_path == trial.path == str(told.folder / name)
    assert trial.resources.total() == {"cpu": 1}
    assert trial.why.rule == "returned"
    assert str(trial) == f"train_{name}"
    assert repr(trial) == f"<train_{name} TERMINATED, 1 results>"


def test_status_is_the_word_that_users_know(told):
    trial = told.add({})
    told.start(trial)
    told.records.pop()  # it was given its resources, and has not said its first word
    assert trial_of(told).status == "RUNNING"


@pytest.mark.parametrize(
    ("mode", "scope", "expected"),
    [
        ("max", "last", 12),
        ("max", "avg", 6.5),
        ("max", "last-5-avg", 10),
        ("max", "last-10-avg", 7.5),
        ("max", "all", 12),
        ("min", "all", 1),
    ],
)
def test_scopes(told, mode, scope, expected):
    told.run({}, *({"loss": step} for step in range(1, 13)))
    assert trial_of(told).value("loss", mode, scope) == expected


def test_the_last_value_may_be_of_an_earlier_result(told):
    told.run({}, {"loss": 1, "eval": 7}, {"loss": 2, "eval": 8}, {"loss": 3})
    assert trial_of(told).value("eval") == 8


def test_a_metric_that_was_never_reported_has_no_value(told):
    told.run({}, {"loss": 1})
    told.add({})
    assert trial_of(told).value("eval") is None
    assert trial_of(told).value("eval", "max", "avg") is None
    assert trial_of(told, 1).value("loss") is None


def test_nested_metrics_have_values(told):
    told.run({}, {"eval": {"loss": 1}}, {"eval": {"loss": 3}})
    assert trial_of(told).value("eval/loss") == 3
    assert trial_of(told).value("eval/loss", "min", "all") == 1


def test_metric_analysis_is_of_all_numbers(told):
    told.run({"lr": 5}, {"loss": 1, "note": "x", "eval": {"f1": nan}}, {"loss": 3})
    found = trial_of(told).metric_analysis
    assert found["loss"] == {"max": 3, "min": 1, "avg": 2, "last": 3, "last-5-avg": 2, "last-10-avg": 2}
    assert isnan(found["eval/f1"]["max"])
    assert set(found) == {"loss", "eval/f1", "training_iteration", "time_total_s"}


def test_checkpoints_come_with_their_results(told):
    trial = told.add({})
    told.start(trial)
    for step in (1, 2, 3):
        told.report(trial, loss=step * 10, checkpoint=told.at(trial, step))
    told.discard(told.at(trial, 1))
    found = trial_of(told)
    assert [(one.path, result["loss"]) for one, result in found.checkpoints()] == [
        (str(told.folder / trial / "checkpoint_000002"), 20),
        (str(told.folder / trial / "checkpoint_000003"), 30),
    ]
    assert found.checkpoint.path == str(told.folder / trial / "checkpoint_000003")


def test_a_trial_without_checkpoints_has_none(told):
    told.run({}, {"loss": 1})
    assert trial_of(told).checkpoint is None
    assert trial_of(told).checkpoints() == []


def test_in_a_copy_of_the_folder_everything_lies_in_the_copy(told, tmp_path):
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=1, checkpoint=told.at(trial, 1))
    told.end(trial)
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(told.write(), copy)
    found = ExperimentAnalysis(copy).trials[0]
    assert found.checkpoint.path == str(copy / trial / "checkpoint_000001")
    assert found.local_path == str(copy / trial)
    shutil.rmtree(copy / trial)
    assert found.checkpoint.path == str(told.folder / trial / "checkpoint_000001")


def test_a_failed_trial_tells_why(told):
    trial = told.add({})
    told.start(trial)
    told.fail(trial, "ZeroDivisionError: division by zero", "Traceback ...\nZeroDivisionError")
    found = trial_of(told)
    assert (found.status, found.num_failures) == ("ERROR", 1)
    assert found.error == "ZeroDivisionError: division by zero"
    assert found.traceback == "Traceback ...\nZeroDivisionError"
    assert found.error_file == str(told.folder / trial / "error.txt")


def test_a_trial_that_ended_well_has_no_error_file(told):
    told.run({}, {"loss": 1})
    assert trial_of(told).error_file is None
    assert trial_of(told).num_failures == 0


def test_a_trial_that_ended_without_what_was_needed_failed_once(told):
    trial = told.add({})
    told.start(trial)
    told.end(trial, error="it reported nothing")
    assert trial_of(told).num_failures == 1
