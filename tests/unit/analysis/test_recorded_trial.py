from __future__ import annotations

import shutil
from math import isnan, nan

import pytest

from overtone.analysis import ExperimentAnalysis, Result


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
    assert trial.placement_group_factory.bundles == [{"CPU": 1}]
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


SPACE = {
    "lr": {"__domain__": "uniform", "lower": 0, "upper": 1},
    "model": {"layers": {"grid_search": [1, 2]}, "kind": "mlp"},
    "steps": [{"__domain__": "choice", "categories": [1, 2]}, 5],
    "rare": {"__domain__": "uniform", "lower": 0, "upper": 1},
}


def test_evaluated_params_are_the_values_that_the_search_chose(tell):
    told = tell(space=SPACE)
    told.run({"lr": 0.5, "model": {"layers": 2, "kind": "mlp"}, "steps": [1, 5]}, {"loss": 1})
    assert trial_of(told).evaluated_params == {"lr": 0.5, "model/layers": 2, "steps/0": 1}
    own = tell("own", space={})  # the searcher has a space of its own
    own.run({"a": {"b": 1}}, {"loss": 1})
    assert trial_of(own).evaluated_params == {"a/b": 1}


def test_its_folder_has_the_name_that_the_user_gave(tell):
    told = tell(options={"trial_folder": {"path": "x.named", "arguments": {}}})
    name = told.run({"lr": 1}, {"loss": 3})
    other = told.run({"lr": 1}, {"loss": 3})
    (told.folder / name).mkdir()
    (told.folder / "best-of-all").symlink_to(name)
    (told.folder / "astray").symlink_to("/etc")
    trial = trial_of(told)
    assert trial.relative_logdir == trial.custom_dirname == "best-of-all"
    assert trial.logdir == trial.path == trial.storage.trial_fs_path == str(told.folder / "best-of-all")
    assert trial_of(told, 1).logdir == str(told.folder / other)
    analysis = ExperimentAnalysis(told.folder)
    assert len(analysis.trial_dataframes[trial.logdir]) == 1
    for wanted in (trial.logdir, name, str(told.folder / name), trial):
        assert analysis.get_last_checkpoint(wanted) is None
    assert Result.from_path(trial.logdir).metrics["loss"] == 3


def test_names_of_folders_are_looked_for_only_if_the_user_gave_any(told, monkeypatch):
    told.run({"lr": 1}, {"loss": 3})
    monkeypatch.setattr("os.scandir", None)
    assert trial_of(told).logdir.endswith("00000")


def test_the_places_of_its_files(told):
    name = told.run({"lr": 1}, {"loss": 3})
    trial = trial_of(told)
    storage = trial.storage
    assert storage.storage_path == storage.storage_fs_path == str(told.folder.parent)
    assert (storage.experiment_dir_name, storage.trial_dir_name) == ("exp", name)
    assert storage.experiment_fs_path == trial.local_experiment_path == str(told.folder)
    assert storage.trial_fs_path == str(told.folder / name)
    assert trial.experiment_dir_name == "exp"


def test_the_metadata_of_its_run(told):
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=2, checkpoint=told.at(trial, 1))
    told.report(trial, loss=3, checkpoint=told.at(trial, 2))
    told.fail(trial, "KeyError: 'x'", "Traceback (most recent call last):\nKeyError: 'x'")
    found = trial_of(told)
    metadata = found.run_metadata
    assert metadata.last_result == found.last_result
    assert metadata.metric_analysis["loss"]["max"] == 3
    assert (metadata.num_failures, metadata.error_filename) == (1, "error.txt")
    assert metadata.start_time > 1e9
    saved = metadata.checkpoint_manager
    assert saved.latest_checkpoint_result.metrics["loss"] == 3
    assert saved.best_checkpoint_result.checkpoint.path.endswith("2")
    assert found.latest_checkpoint_result.checkpoint == found.checkpoint
    assert found.has_checkpoint()
    assert isinstance(found.get_pickled_error(), KeyError)
    assert found.get_error().startswith("Traceback")


def test_a_trial_without_results_checkpoints_and_failures(told):
    told.add({})
    found = trial_of(told)
    assert not found.has_checkpoint()
    assert not found.has_reported_at_least_once
    assert found.run_metadata.start_time is found.run_metadata.last_result_time is None
    assert found.run_metadata.checkpoint_manager.best_checkpoint_result is None
    assert found.latest_checkpoint_result is found.get_pickled_error() is found.get_error() is None
    assert found.node_ip == ""
    assert found.get_ray_actor_ip() is found.pickled_error_file is None
    assert (found.stub, found.is_saving, found.is_restoring) == (True, False, False)


@pytest.mark.parametrize(("mode", "expected"), [("max", [nan, 1, 2, 3]), ("min", [nan, 3, 2, 1])])
def test_checkpoints_are_ranked_by_the_score_attribute(tell, mode, expected):
    told = tell(checkpoints={"every": 2, "at_end": True, "order": "loss", "order_mode": mode})
    trial = told.add({})
    told.start(trial)
    for step, loss in enumerate((2, nan, 3, 1), start=1):
        told.report(trial, loss=loss, checkpoint=told.at(trial, step))
    found = trial_of(told)
    losses = [metrics["loss"] for _, metrics in Result(found).best_checkpoints]
    assert str(losses) == str(expected)
    assert found.latest_checkpoint_result.metrics["loss"] == 1
    assert (found.checkpoint_freq, found.checkpoint_at_end) == (2, True)


def test_the_settings_of_the_run(tell):
    told = tell(stop={"loss": 0.1}, options={"max_failures": 3, "trial_folder": None})
    told.run({}, {"loss": 1})
    trial = trial_of(told)
    assert (trial.stopping_criterion, trial.max_failures) == ({"loss": 0.1}, 3)
    assert (trial.TERMINATED, trial.checkpoint_freq, trial.checkpoint_at_end) == ("TERMINATED", 0, False)
    assert trial.custom_trial_name is None


def test_settings_that_are_not_what_was_written_are_taken_for_none(tell):
    told = tell(options={"max_failures": "x"}, checkpoints={"every": "x"}, space=[], stop="x")
    told.run({"lr": 1}, {"loss": 1})
    trial = trial_of(told)
    assert (trial.max_failures, trial.checkpoint_freq, trial.checkpoint_at_end) == (0, 0, False)
    assert (trial.stopping_criterion, trial.evaluated_params) == ({}, {"lr": 1})
    assert trial.logdir.endswith(trial.trial_id)
