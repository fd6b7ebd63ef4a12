"""`run_experiments` in the paper's dialect and in those of 0.x and 1.x."""

import inspect

import pytest

from overtone import tune
from overtone.core.resources import Resources
from overtone.errors import TrainableError
from overtone.schedulers.fifo import FIFOScheduler
from overtone.tune.experiment import experiments_to_run


def f():
    pass


def test_the_papers_form_is_a_trainable_a_space_and_a_scheduler_class():
    (one,) = experiments_to_run(f, {"lr": tune.grid_search([1, 2])}, scheduler=FIFOScheduler)
    assert (one.trainable, one.space, one.scheduler) == (f, {"lr": {"grid_search": [1, 2]}}, FIFOScheduler)


def test_a_mapping_by_name_is_one_experiment_an_entry():
    tune.register_trainable("test_tune.f", f)
    first, second = experiments_to_run(
        {
            "first": {
                "run": "test_tune.f",
                "stop": {"training_iteration": 2},
                "config": {"x": 1},
                "trial_resources": {"cpu": 2},
                "repeat": 3,
            },
            "second": {"run": f, "resources_per_trial": {"gpu": 1}, "local_dir": "/b"},
        },
        verbose=0,
    )
    assert (first.name, first.trainable.trainable, first.space, first.num_samples) == (
        "first",
        f,
        {"x": 1},
        3,
    )
    assert (first.stop, first.resources) == ({"training_iteration": 2}, Resources.of({"cpu": 2}))
    assert (second.name, second.resources, second.storage) == ("second", Resources.of({"gpu": 1}), "/b")
    assert first.verbose == second.verbose == 0


def test_experiment_objects_are_taken_alone_and_in_lists():
    one = tune.Experiment("one", f, num_samples=2)
    two = tune.Experiment("two", f)
    assert [each.name for each in experiments_to_run(one)] == ["one"]
    assert [each.name for each in experiments_to_run([one, two])] == ["one", "two"]
    assert experiments_to_run(one)[0].num_samples == 2


def test_the_scheduler_may_be_the_second_argument():
    (one,) = experiments_to_run({"one": {"run": f}}, FIFOScheduler)
    assert one.scheduler is FIFOScheduler
    assert one.space == {}


def test_an_environment_goes_into_the_config():
    (one,) = experiments_to_run({"one": {"run": f, "env": "CartPole-v0", "config": {"x": 1}}})
    assert one.space == {"x": 1, "env": "CartPole-v0"}


def test_an_entry_without_a_trainable_is_an_error_that_shows_it():
    with pytest.raises(TypeError, match=r"'one'.*\{'config': \{\}\}"):
        experiments_to_run({"one": {"config": {}}})


def test_a_wrong_argument_of_an_experiment_is_an_error_before_it_runs():
    with pytest.raises(TypeError, match=r"'num_sampels'.*'num_samples'"):
        tune.Experiment("one", f, num_sampels=2)


def test_an_experiment_can_be_written_as_data_again():
    one = tune.Experiment("one", f, num_samples=2)
    assert tune.Experiment.from_json("one", one.spec).spec == {"run": f, "num_samples": 2}


def test_start_takes_one_experiment():
    with pytest.raises(TrainableError, match=r"tune\.run takes several"):
        tune.start([tune.Experiment("one", f), tune.Experiment("two", f)])


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: tune.run("nobody", **given),
        lambda given: tune.start("nobody", **given),
        lambda given: tune.Tuner("nobody", run_config=tune.RunConfig(sync_config=tune.SyncConfig("here"))),
    ],
)
def test_what_has_no_effect_is_said_of_the_callers_line(ask):
    with pytest.warns(UserWarning, match="upload_dir has no effect") as caught, pytest.raises(TrainableError):
        ask({"upload_dir": "here"})
    assert caught[0].filename == __file__


def test_run_and_start_show_the_arguments_that_they_take():
    assert "num_samples" in inspect.signature(tune.run).parameters
    assert inspect.signature(tune.run) == inspect.signature(tune.start)
    assert tune.start.__doc__ != tune.run.__doc__
