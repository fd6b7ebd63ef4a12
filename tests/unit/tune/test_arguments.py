"""Every argument of `tune.run`, of all its ages, ends in the right field."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from overtone import machine, tune
from overtone.core.goal import Goal
from overtone.core.resources import Resources
from overtone.errors import ArgumentError, GoalError, OvertoneError, ResourceError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.schedulers.fifo import FIFOScheduler
from overtone.searchers import BasicVariantGenerator
from overtone.tune.arguments import to_experiment

SEARCHER = BasicVariantGenerator()


def f(config):
    return 1


def test_a_trainable_alone_is_an_experiment_with_the_defaults():
    assert to_experiment(f) == Experiment(trainable=f)


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ({"config": {"x": 1}}, "space", {"x": 1}),
        ({"config": [{"x": 1}, {"x": 2}]}, "space", [{"x": 1}, {"x": 2}]),
        ({"name": "n"}, "name", "n"),
        ({"storage_path": "/a"}, "storage", "/a"),
        ({"local_dir": "/a"}, "storage", "/a"),
        ({"num_samples": -1}, "num_samples", -1),
        ({"metric": "acc"}, "metric", "acc"),
        ({"mode": "max"}, "mode", "max"),
        ({"scheduler": FIFOScheduler}, "scheduler", FIFOScheduler),
        ({"search_alg": SEARCHER}, "searcher", SEARCHER),
        ({"stop": {"training_iteration": 3}}, "stop", {"training_iteration": 3}),
        ({"time_budget_s": 5}, "time_budget_s", 5),
        ({"time_budget_s": timedelta(minutes=2)}, "time_budget_s", 120.0),
        ({"resources_per_trial": {"cpu": 2}}, "resources", Resources.of({"cpu": 2})),
        ({"max_concurrent_trials": 3}, "max_concurrent", 3),
        ({"max_concurrent_trials": 0}, "max_concurrent", None),
        ({"max_failures": -1}, "max_failures", -1),
        ({"fail_fast": "raise"}, "fail_fast", "raise"),
        ({"reuse_actors": True}, "reuse", True),
        ({"reuse_actors": None}, "reuse", False),
        ({"log_to_file": ("out", "err")}, "log_to_file", ("out", "err")),
        ({"progress_reporter": "reporter"}, "reporter", "reporter"),
        ({"verbose": 0}, "verbose", 0),
        ({"verbose": None}, "verbose", 2),
        ({"callbacks": [print]}, "callbacks", (print,)),
        ({"points_to_evaluate": [{"x": 1}]}, "points_to_evaluate", ({"x": 1},)),
        ({"raise_on_failed_trial": False}, "raise_on_failed_trial", False),
        ({"seed": 7}, "seed", 7),
        ({"engine": "inline"}, "engine", "inline"),
        ({"durability": "sync"}, "durability", "sync"),
        ({"priority": f}, "priority", f),
        ({}, "checkpoints", CheckpointPolicy(every=None, at_end=None)),
        ({"checkpoint_freq": 0}, "checkpoints", CheckpointPolicy(every=0)),
        ({"max_disk": "20GB"}, "checkpoints", CheckpointPolicy(max_disk="20GB")),
        ({"checkpoint_freq": 3}, "checkpoints", CheckpointPolicy(every=3)),
        ({"checkpoint_at_end": True}, "checkpoints", CheckpointPolicy(at_end=True)),
        ({"keep_checkpoints_num": 2}, "checkpoints", CheckpointPolicy(keep=2)),
        ({"checkpoint_score_attr": "acc"}, "checkpoints", CheckpointPolicy(order="acc")),
        (
            {"checkpoint_score_attr": "min-loss"},
            "checkpoints",
            CheckpointPolicy(order="loss", order_mode="min"),
        ),
    ],
)
def test_each_argument_sets_its_field(arguments, field, value):
    assert getattr(to_experiment(f, **arguments), field) == value


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("name", [3, Path("first")]),
        ("storage_path", [3, b"/tmp"]),
        ("verbose", ["loud", []]),
        ("checkpoint_score_attr", [2]),
        ("log_to_file", [3, (), ("a", "b", "c"), (1, 2)]),
        ("trial_name_creator", ["x"]),
        ("trial_dirname_creator", ["x"]),
        ("priority", ["x"]),
    ],
)
def test_a_value_of_another_type_is_named_where_it_is_given(argument, values):
    for value in values:
        with pytest.raises(ArgumentError, match=re.escape(f"{argument}={value!r} must be")):
            to_experiment(f, **{argument: value})


def test_constraints_of_another_type_are_named():
    with pytest.raises(GoalError, match=r"constraints=3: must be a dict, such as"):
        Goal("loss", "min", constraints=3)


def test_schedulers_and_searchers_are_made_by_their_names():
    made = to_experiment(f, scheduler="fifo", search_alg="random")
    assert (type(made.scheduler), type(made.searcher)) == (FIFOScheduler, BasicVariantGenerator)
    with pytest.raises(ValueError, match="no scheduler 'lifo'"):
        to_experiment(f, scheduler="lifo")


def test_a_checkpoint_config_is_the_same_policy_as_the_single_arguments():
    config = tune.CheckpointConfig(
        num_to_keep=2,
        checkpoint_score_attribute="loss",
        checkpoint_score_order="min",
        checkpoint_frequency=5,
        checkpoint_at_end=True,
        max_disk="20GB",
    )
    single = to_experiment(
        f,
        checkpoint_freq=5,
        checkpoint_at_end=True,
        keep_checkpoints_num=2,
        checkpoint_score_attr="min-loss",
        max_disk="20GB",
    )
    assert to_experiment(f, checkpoint_config=config).checkpoints == single.checkpoints
    assert to_experiment(f, checkpoint_config=tune.CheckpointConfig()).checkpoints == CheckpointPolicy()


def test_both_forms_of_the_checkpoint_options_are_refused():
    with pytest.raises(ValueError, match="one or the other"):
        to_experiment(f, checkpoint_config=tune.CheckpointConfig(), checkpoint_freq=1)


def test_two_names_of_one_option_must_agree():
    assert to_experiment(f, storage_path="/a", local_dir="/a").storage == "/a"
    with pytest.raises(ValueError, match=r"'/a'.*'/b'"):
        to_experiment(f, storage_path="/a", local_dir="/b")


def test_an_unknown_argument_is_answered_with_the_nearest_name():
    with pytest.raises(TypeError, match=r"'num_sample'.*'num_samples'"):
        to_experiment(f, num_sample=3)


def test_an_argument_like_none_that_there_is_is_answered_without_a_guess():
    with pytest.raises(TypeError, match=r"no argument 'zzzzzz'$"):
        to_experiment(f, zzzzzz=3)


def test_what_has_no_effect_is_said_once():
    with pytest.warns(
        UserWarning, match="queue_trials, sync_to_cloud, trial_executor has no effect"
    ) as caught:
        to_experiment(f, trial_executor=object(), sync_to_cloud=True, queue_trials=True)
    assert len(caught) == 1


def test_what_is_not_set_is_taken_in_silence():
    harmless = {"queue_trials": False, "ray_auto_init": False, "server_port": None, "loggers": None}
    assert to_experiment(f, **harmless) == Experiment(trainable=f)


def test_a_sync_config_is_taken_and_one_with_a_target_is_warned_about():
    assert to_experiment(f, sync_config=tune.SyncConfig()) == Experiment(trainable=f)
    with pytest.warns(
        UserWarning, match="upload_dir has no effect in Overtone; .* storage_path='s3://bucket'"
    ):
        to_experiment(f, sync_config=tune.SyncConfig(upload_dir="s3://bucket"))


def test_a_registered_name_is_looked_up():
    tune.register_trainable("test_arguments.f", f)
    assert to_experiment("test_arguments.f").trainable.trainable is f
    assert to_experiment("test_arguments.f").trainable.__name__ == "test_arguments.f"


def test_a_trainer_is_asked_for_its_trainable():
    class Trainer:
        def as_trainable(self):
            return f

    assert to_experiment(Trainer()).trainable is f


def test_name_creators_see_the_trial_by_the_names_that_users_know():
    class Core:
        id, tag, config, last = "ab_00000", "0_x=1", {"x": 1}, None

    def named(trial):
        return f"{trial.trainable_name}|{trial}|{trial.experiment_tag}"

    made = to_experiment(f, trial_name_creator=named)
    assert made.trial_name(Core()) == "f|f_ab_00000|0_x=1"
    assert to_experiment(f).trial_name is None


def test_wrong_resources_are_an_error_at_once():
    with pytest.raises(ResourceError, match="'many'"):
        to_experiment(f, resources_per_trial={"cpu": "many"})


def test_local_mode_of_the_machine_runs_trials_in_line():
    machine.init(local_mode=True)
    try:
        assert to_experiment(f).engine == "inline"
        assert to_experiment(f, engine="local").engine == "local"
    finally:
        machine.shutdown()


def test_resources_bound_to_the_trainable_count_where_none_are_given():
    bound = tune.with_resources(f, {"cpu": 1, "custom_resources": {"license": 1}})
    assert to_experiment(bound).resources == Resources.of({"cpu": 1, "license": 1})
    assert to_experiment(bound, resources_per_trial={"cpu": 3}).resources == Resources.of({"cpu": 3})


def test_a_scheduler_in_the_old_style_is_passed_on():
    class Mine(FIFOScheduler):
        def on_trial_result(self, controller, trial, result):
            return "STOP"

    mine = Mine()
    assert to_experiment(f, scheduler=mine).scheduler is mine


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, False),
        ({"resume": "AUTO"}, "AUTO"),
        ({"resume_config": tune.ResumeConfig()}, "LOCAL"),
        ({"resume_config": tune.ResumeConfig(errored="resume")}, "LOCAL+ERRORED"),
        ({"resume": "AUTO", "resume_config": tune.ResumeConfig(errored="restart")}, "AUTO+RESTART_ERRORED"),
    ],
)
def test_what_a_resume_does_with_failed_trials(arguments, expected):
    assert to_experiment(lambda config: 1, **arguments).resume == expected


def test_finished_trials_cannot_be_run_again():
    with pytest.raises(OvertoneError, match="only errored can be chosen"):
        to_experiment(lambda config: 1, resume_config=tune.ResumeConfig(finished="restart"))
