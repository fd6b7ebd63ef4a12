"""Names that scripts import, and that have little to do here."""

import pytest

from overtone import train, tune
from overtone.air import constants as air_constants
from overtone.errors import TrainableError
from overtone.train import constants
from overtone.tune.result import AUTO_RESULT_KEYS, TRAINING_ITERATION
from overtone.tune.search import grid_search
from overtone.tune.sync_client import NOOP, CommandBasedClient


def test_a_trial_has_no_shard_and_says_how_it_gets_data():
    assert train.DataConfig(["train"]).datasets_to_split == ["train"]
    with pytest.raises(TypeError, match="datasets_to_split='train' must be"):
        train.DataConfig("train")
    with pytest.raises(TrainableError, match=r"with_parameters\(train, data=data\)"):
        train.get_dataset_shard("train")


def test_constants_are_those_of_results():
    assert air_constants.TRAINING_ITERATION == TRAINING_ITERATION == "training_iteration"
    assert (
        constants.TRAIN_DATASET_KEY == train.TRAIN_DATASET_KEY == air_constants.TRAIN_DATASET_KEY == "train"
    )


def test_the_fields_that_are_added_are_listed(tmp_path):
    found = tune.run(
        lambda config: tune.report({"loss": 1}),
        engine="inline",
        storage_path=tmp_path,
        verbose=0,
        tensorboard=False,
    )
    added = found.trials[0].last_result.keys() - {
        "loss",
        "trial_id",
        "experiment_tag",
        "done",
        "experiment_id",
    }
    assert added <= set(AUTO_RESULT_KEYS)


def test_clients_for_copies_are_taken():
    client = CommandBasedClient("cp {source} {target}", "cp {source} {target}")
    assert (
        client.sync_up("a", "b")
        is client.sync_down("a", "b")
        is client.delete("a")
        is NOOP.sync_up("a", "b")
        is True
    )
    client.wait()
    client.reset()


def test_a_grid_is_written_by_its_old_path():
    assert grid_search([1]) == tune.grid_search([1])
