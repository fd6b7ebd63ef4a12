"""Unknown keyword arguments are answered with those that there are."""

import copy
import pickle

import pytest

from overtone import tune
from overtone.tune.schedulers import ASHAScheduler, PopulationBasedTraining
from overtone.tune.search.hyperopt import HyperOptSearch


def train(config):
    pass


@pytest.mark.parametrize(
    ("make", "given", "meant"),
    [
        (tune.TuneConfig, "num_sample", "num_samples"),
        (tune.RunConfig, "storage", "storage_path"),
        (tune.FailureConfig, "max_failure", "max_failures"),
        (tune.CheckpointConfig, "checkpoint_frequenzy", "checkpoint_frequency"),
        (tune.ResumeConfig, "finish", "finished"),
        (lambda **given: tune.Tuner(train, **given), "param_spaces", "param_space"),
        (ASHAScheduler, "max_T", "max_t"),
        (PopulationBasedTraining, "perturbation_intervall", "perturbation_interval"),
        (HyperOptSearch, "n_initial_point", "n_initial_points"),
    ],
)
def test_the_nearest_name_is_named(make, given, meant):
    with pytest.raises(TypeError, match=rf"\(\) has no argument '{given}'; did you mean '{meant}'\? \(known: "):
        make(**{given: 1})


def test_old_names_and_positions_are_taken():
    assert ASHAScheduler(reward_attr="neg_loss").mode == "min"
    assert ASHAScheduler("training_iteration", "loss", "min", max_t=9).metric == "loss"


def test_a_class_that_takes_any_keyword_is_left_alone():
    class Mine(ASHAScheduler):
        def __init__(self, mine=1, **others):
            super().__init__(**others)

    assert Mine(mine=2, max_t=9).metric is None
    with pytest.raises(TypeError, match="max_T"):
        Mine(max_T=9)


def test_configs_are_copied_and_pickled():
    config = tune.TuneConfig(num_samples=3, metric="loss", mode="min")
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config
