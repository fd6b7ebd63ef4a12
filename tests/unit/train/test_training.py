"""What a training asks for, and what a trial's config changes in it."""

from types import SimpleNamespace

import pytest

from overtone.core.resources import Resources
from overtone.errors import ArgumentError, ResourceError, UsageError
from overtone.train import ScalingConfig
from overtone.train.data_parallel_trainer import DataParallelTrainer
from overtone.train.hosts import check_bundles
from overtone.train.training import Training, resources_of, takes_config

CPU, TWO_CPUS, GPU = (("cpu", 1.0),), (("cpu", 2.0),), (("cpu", 1.0), ("gpu", 1.0))


def loop(config):
    raise AssertionError("not called here")


def test_the_head_takes_nothing_unless_it_is_said():
    assert resources_of(ScalingConfig(num_workers=2)).bundles == ((), CPU, CPU)
    asked = ScalingConfig(num_workers=1, trainer_resources={"CPU": 2}, use_gpu=True)
    assert resources_of(asked).bundles == (TWO_CPUS, GPU)
    assert resources_of(ScalingConfig()).bundles == ((), CPU)


def test_a_strategy_is_handed_on():
    assert resources_of(ScalingConfig(num_workers=2, placement_strategy="SPREAD")).strategy == "SPREAD"


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", (2, 1), (0, 2), (1, 2, 3), ("1", 2)])
def test_the_number_of_ranks_is_a_whole_number(number):
    with pytest.raises(ArgumentError, match="must be a whole number, 1 or more"):
        resources_of(ScalingConfig(num_workers=number))


def test_a_range_asks_for_the_most():
    assert resources_of(ScalingConfig(num_workers=(1, 3))).bundles == ((), CPU, CPU, CPU)
    assert Training(loop).resources({"scaling_config": {"num_workers": [1, 2]}}).bundles == ((), CPU, CPU)


def test_changes_are_plain_data():
    assert ScalingConfig(num_workers=(1, 2), use_gpu=True).changes() == {
        "num_workers": [1, 2],
        "use_gpu": True,
    }
    assert ScalingConfig().changes() == {}


def test_a_range_runs_as_many_as_the_trial_has_bundles(monkeypatch):
    training = Training(loop, scaling=ScalingConfig(num_workers=(2, 4)))
    monkeypatch.setattr("overtone.train.training.is_inside", lambda: True)
    ranks = {}
    for n_bundles in (1, 2, 3, 4, 5, 9):
        demand = Resources((CPU,) * n_bundles)
        trial = SimpleNamespace(
            get_trial_resources=lambda demand=demand: SimpleNamespace(resources=lambda: demand)
        )
        monkeypatch.setattr("overtone.train.training.current", lambda trial=trial: trial)
        ranks[n_bundles] = len(training.gang_resources().bundles) - 1
    assert ranks == {1: 2, 2: 2, 3: 2, 4: 3, 5: 4, 9: 4}


def test_a_config_changes_the_loop_and_the_ranks():
    training = Training(loop, loop_config={"lr": 0.1, "epochs": 3}, scaling=ScalingConfig(num_workers=2))
    config = {"train_loop_config": {"lr": 0.5}, "scaling_config": {"num_workers": 3}}
    changed = training.with_config(config)
    assert changed.loop_config == {"lr": 0.5, "epochs": 3}
    assert training.resources(config).bundles == ((), CPU, CPU, CPU)
    assert training.loop_config["lr"] == 0.1


def test_names_of_a_config_are_checked():
    with pytest.raises(
        ArgumentError, match=r"'lr' must be one of .*\{'train_loop_config': \{'lr': \.\.\.\}\}"
    ):
        Training(loop).with_config({"lr": 0.1})
    with pytest.raises(ResourceError, match="scaling_config has no 'num_worker'; did you mean 'num_workers'"):
        Training(loop).with_config({"scaling_config": {"num_worker": 2}})
    with pytest.raises(ArgumentError, match="'params'"):
        Training(loop, config_argument="params").with_config({"train_loop_config": {}})


def test_loops_with_and_without_a_config():
    assert takes_config(loop)
    assert takes_config(lambda *values: None)
    assert not takes_config(lambda: None)
    assert not takes_config(lambda *, name=3: None)


def test_loops_that_need_more_are_refused():
    with pytest.raises(UsageError, match="needs config, data: it gets the config alone"):
        takes_config(lambda config, data: None)
    with pytest.raises(UsageError, match="needs data: "):
        DataParallelTrainer(lambda *, data: None)
    with pytest.raises(UsageError, match="must be a function of the config"):
        DataParallelTrainer(3)


def test_bundles_are_for_head_and_ranks_or_for_ranks_alone():
    wanted = Resources(((), CPU, CPU))
    check_bundles(Resources(((), CPU, CPU)), wanted)
    check_bundles(Resources((TWO_CPUS, CPU)), wanted)
    with pytest.raises(ResourceError, match=r"tune\.with_resources"):
        check_bundles(Resources((CPU,)), wanted)


def test_bundles_are_large_enough():
    with pytest.raises(ResourceError, match=r"rank 1 needs gpu 1, and its bundle has 0: .*num_workers=2, "):
        check_bundles(Resources((GPU, CPU)), Resources(((), GPU, GPU)))


@pytest.mark.parametrize(
    "arguments",
    [{"scaling_config": {"num_workers": 2}}, {"run_config": {"name": "a"}}, {"train_loop_config": [1]}],
)
def test_arguments_of_another_type_are_refused(arguments):
    (name,) = arguments
    with pytest.raises(ArgumentError, match=f"{name}=.*: must be a .*, such as"):
        DataParallelTrainer(lambda: None, **arguments)
