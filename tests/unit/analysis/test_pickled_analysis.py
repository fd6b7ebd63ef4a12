from __future__ import annotations

import pickle
import shutil

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis, Result, ResultGrid
from overtone.errors import StorageError
from overtone.run.header.journal_setup import codec_for


@pytest.fixture
def folder(told):
    told.run({"lr": 1}, {"loss": 4})
    trial = told.add({"lr": 2})
    told.start(trial)
    told.report(trial, loss=1, checkpoint=told.at(trial, 1))
    told.fail(trial, "KeyError: 'x'", "Traceback\nKeyError: 'x'")
    return told.write()


def copied(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("is_read", [True, False])
def test_an_analysis(folder, is_read):
    analysis = ExperimentAnalysis(folder, "loss", "min", trials=["358bb_00001"])
    if is_read:
        assert analysis.best_config == {"lr": 2}
    again = copied(analysis)
    assert again.best_config == {"lr": 2}
    assert (again.default_metric, again.default_mode) == ("loss", "min")
    assert len(again.trials) == 1
    assert again.best_checkpoint.path == analysis.best_checkpoint.path


def test_a_result_grid_and_its_results(folder):
    grid = ResultGrid(ExperimentAnalysis(folder, "loss", "min"))
    again = copied(grid)
    assert again.get_best_result().config == {"lr": 2}
    assert (len(again), again.num_errors) == (2, 1)
    assert isinstance(again.errors[0], KeyError)
    result = copied(grid[1])
    assert (result.metrics["loss"], result.get_best_checkpoint().path) == (1, grid[1].checkpoint.path)
    assert isinstance(copied(result).error, KeyError)


def test_trials_and_frames(folder):
    analysis = ExperimentAnalysis(folder)
    one, other = copied((analysis.trials[0], analysis.trials[1]))
    assert (one.config, other.last_result["loss"]) == ({"lr": 1}, 1)
    assert one._index is other._index
    frames = copied(analysis.trial_dataframes)
    assert frames[other.trial_id]["loss"].tolist() == [1]


def test_configs_keep_what_is_not_data(told):
    space = {"act": tune.choice([print, len]), "f": tune.sample_from(lambda spec: 1)}
    codec = codec_for(space)
    told.run(codec._encode_config({"act": len, "f": 1}), {"loss": 1})
    analysis = ExperimentAnalysis(told.write(), codec=codec)
    assert copied(analysis).trials[0].config == analysis.trials[0].config == {"act": len, "f": 1}


def test_a_space_that_cannot_be_pickled_leaves_descriptions(told):
    import threading

    space = {"lock": threading.Lock(), "lr": tune.uniform(0, 1)}
    codec = codec_for(space)
    told.run(codec._encode_config({"lock": space["lock"], "lr": 0.5}), {"loss": 1})
    config = copied(ExperimentAnalysis(told.write(), codec=codec)).trials[0].config
    assert config["lr"] == 0.5
    assert "lock" in config["lock"]["shown"]


def test_it_is_small_and_reads_what_came_later(told):
    trial = told.add({"lr": 1})
    told.start(trial)
    told.report(trial, loss=5)
    analysis = ExperimentAnalysis(told.write())
    assert len(analysis.trial_dataframes[trial]) == len(analysis.trials)
    assert analysis.get_best_trial("loss", "min")
    pickled = pickle.dumps(analysis)
    assert len(pickled) < 1000
    for loss in range(100):
        told.report(trial, loss=loss)
    told.write()
    assert pickle.loads(pickled).trials[0].last_result["loss"] == 99


def test_without_its_folder_the_error_names_the_place(folder):
    pickled = pickle.dumps(ExperimentAnalysis(folder))
    shutil.rmtree(folder)
    with pytest.raises(StorageError, match="there is no experiment at"):
        pickle.loads(pickled)


def test_a_result_of_values():
    assert copied(Result(metrics={"loss": 1})).metrics == {"loss": 1}
