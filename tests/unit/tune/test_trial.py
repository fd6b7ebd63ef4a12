"""A trial by the names that users' functions expect."""

import pytest

from overtone import tune
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.errors import TuneError
from overtone.tune import trial as shown


def core():
    return Trial("ab_00001", 1, {"x": 1}, Resources.of({"cpu": 1}), tag="1_x=1")


def test_it_has_the_names_that_users_know_and_those_of_the_core():
    trial = shown.AddedTrial(core(), "train")
    assert (str(trial), trial.trial_id, trial.trainable_name) == ("train_ab_00001", "ab_00001", "train")
    assert (trial.experiment_tag, trial.config, trial.evaluated_params) == ("1_x=1", {"x": 1}, {"x": 1})
    assert (trial.status, trial.index) == (Status.PENDING, 1)


def test_its_last_result_is_what_it_reported():
    one = core()
    assert shown.AddedTrial(one, "f").last_result == {}
    one.last = Result(t=1, score=2.0, metrics={"acc": 2.0})
    assert shown.AddedTrial(one, "f").last_result == {"acc": 2.0}


def test_a_function_gets_the_shown_trial_and_answers_with_text():
    assert shown.with_shown_trial(lambda trial: trial.config["x"], "f")(core()) == "1"
    assert shown.with_shown_trial(None, "f") is None


def test_evaluated_params_are_the_values_that_the_search_chooses():
    one = core()
    one.config.update(fixed=5, deep={"lr": 0.1})
    space = {"x": {"grid_search": [1, 2]}, "fixed": 5, "deep": {"lr": tune.uniform(0, 1)}}
    found = []
    shown.with_shown_trial(lambda trial: found.append(trial.evaluated_params), "f", space)(one)
    shown.with_shown_trial(lambda trial: found.append(trial.evaluated_params), "f")(one)
    assert found == [{"x": 1, "deep/lr": 0.1}, {"x": 1, "fixed": 5, "deep/lr": 0.1}]
    assert shown.AddedTrial(one, "f").placement_group_factory.bundles == [{"CPU": 1}]


def test_export_formats_are_normalised():
    formats = [" Model", "h5"]
    shown.ExportFormat.validate(formats)
    assert formats == ["model", "h5"]
    with pytest.raises(TuneError, match="'zip': must be one of 'checkpoint'"):
        shown.ExportFormat.validate(["zip"])


def test_the_class_of_recorded_trials_has_the_name_that_scripts_import():
    from overtone.analysis import RecordedTrial
    from overtone.tune import experiment
    from overtone.tune.experiment import trial

    assert experiment.Trial is trial.Trial is shown.Trial is RecordedTrial
    assert trial.ExportFormat is shown.ExportFormat
    for module in (experiment, shown):
        with pytest.raises(AttributeError, match="no attribute 'Trail'"):
            _ = module.Trail
