"""`Tuner` and its options as objects."""

import pytest

from overtone import tune
from overtone.errors import OvertoneError
from overtone.experiment import CheckpointPolicy


def f(config):
    return 1


def test_the_options_end_in_the_same_experiment_as_those_of_run():
    tuner = tune.Tuner(
        f,
        param_space={"x": 1},
        tune_config=tune.TuneConfig(metric="m", mode="min", num_samples=4, max_concurrent_trials=2, seed=3),
        run_config=tune.RunConfig(
            name="n",
            storage_path="/s",
            stop={"training_iteration": 2},
            failure_config=tune.FailureConfig(max_failures=2, fail_fast=True),
            checkpoint_config=tune.CheckpointConfig(num_to_keep=1),
            verbose=1,
            log_to_file=True,
            callbacks=[print],
        ),
    )
    made = tuner.to_experiment()
    assert (made.trainable, made.space, made.metric, made.mode) == (f, {"x": 1}, "m", "min")
    assert (made.num_samples, made.max_concurrent, made.seed) == (4, 2, 3)
    assert (made.name, made.storage, made.stop) == ("n", "/s", {"training_iteration": 2})
    assert (made.max_failures, made.fail_fast) == (2, True)
    assert made.checkpoints == CheckpointPolicy(keep=1)
    assert (made.verbose, made.log_to_file, made.callbacks) == (1, True, (print,))


def test_failed_trials_do_not_raise():
    assert tune.Tuner(f).to_experiment().raise_on_failed_trial is False


def test_a_tuner_without_a_trainable_is_an_error():
    with pytest.raises(TypeError, match="needs a trainable"):
        tune.Tuner()


def test_a_wrong_option_is_an_error_before_it_runs():
    with pytest.raises(OvertoneError, match="nobody"):
        tune.Tuner("nobody")


@pytest.mark.parametrize("options", [{"tune_config": {"num_samples": 3}}, {"run_config": tune.TuneConfig()}])
def test_a_config_of_the_wrong_kind_is_named(options):
    with pytest.raises(OvertoneError, match="must be None or made with tune"):
        tune.Tuner(f, **options)


@pytest.mark.parametrize("name", ["checkpoint_config", "failure_config"])
def test_a_part_of_a_config_of_the_wrong_kind_is_named(name):
    with pytest.raises(OvertoneError, match=rf"{name}={{'a': 1}}: must be None or made with tune"):
        tune.RunConfig(**{name: {"a": 1}})


@pytest.mark.parametrize("name", ["checkpoint_config", "resume_config"])
def test_a_config_of_the_wrong_kind_is_named_by_run_too(name):
    with pytest.raises(OvertoneError, match=rf"{name}={{'a': 1}}: must be None or made with tune"):
        tune.run(f, **{name: {"a": 1}})


def test_there_are_no_results_before_the_fit():
    with pytest.raises(OvertoneError, match=r"fit\(\)"):
        tune.Tuner(f).get_results()


def test_restoring_what_is_not_there():
    assert not tune.Tuner.can_restore("/somewhere")
    with pytest.raises(OvertoneError, match="there is no experiment at ./somewhere."):
        tune.Tuner.restore("/somewhere", f)


@pytest.mark.parametrize(
    "wrong",
    [{"num_to_keep": -1}, {"num_to_keep": 0}, {"num_to_keep": "2"}, {"checkpoint_score_order": "best"}],
)
def test_a_checkpoint_config_shows_what_is_wrong(wrong):
    (value,) = wrong.values()
    with pytest.raises(OvertoneError, match=repr(value)):
        tune.CheckpointConfig(**wrong)


def test_a_scaling_config_is_a_bundle_for_the_trial_and_one_for_each_worker():
    scaling = tune.ScalingConfig(num_workers=2, use_gpu=True, resources_per_worker={"CPU": 3})
    made = tune.Tuner(tune.with_resources(f, scaling)).to_experiment()
    assert [dict(bundle) for bundle in made.resources.bundles] == [
        {"cpu": 1.0},
        {"cpu": 3.0, "gpu": 1.0},
        {"cpu": 3.0, "gpu": 1.0},
    ]
    assert tune.ScalingConfig().bundles == [{"CPU": 1}]
