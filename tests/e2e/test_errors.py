"""The mistakes that users make, and what they read then."""

import threading

import pytest

from overtone import tune
from overtone.errors import (
    GoalError,
    OvertoneError,
    ResourceError,
    SpaceError,
    StorageError,
    TrainableError,
    TrialError,
    TuneError,
)


@pytest.fixture
def run(tmp_path):
    def run(trainable, **arguments):
        return tune.run(trainable, storage_path=str(tmp_path), **{"verbose": 0, **arguments})

    return run


def accuracy(config):
    tune.report({"mean_accuracy": 0.5, "loss": 1.0})


def inverse(config):
    tune.report({"mean_accuracy": 1.0})
    return {"mean_accuracy": 1 / config["x"]}


def test_a_trainable_that_raises(run):
    with pytest.raises(TuneError, match=r"1 of 3 trials failed.*ZeroDivisionError") as caught:
        run(inverse, config={"x": tune.grid_search([0, 0.5, 2])}, metric="mean_accuracy", mode="max")
    cause = caught.value.__cause__
    assert isinstance(cause, TrialError)
    assert isinstance(cause, ZeroDivisionError)
    assert "in inverse" in str(cause)
    assert str(cause).index("in inverse") < str(cause).rindex("ZeroDivisionError")
    assert len(caught.value.analysis.results_df) == 3
    assert caught.value.analysis.best_config == {"x": 0.5}


def test_failed_trials_may_be_accepted(run):
    analysis = run(inverse, config={"x": tune.grid_search([0, 1])}, metric="mean_accuracy", mode="max",
                   raise_on_failed_trial=False)  # fmt: skip
    assert sorted(trial.status for trial in analysis.trials) == ["ERROR", "TERMINATED"]


@pytest.mark.parametrize(
    "asked",
    [
        {"metric": "loss", "mode": "min"},
        {"scheduler": "asha"},
        {"search_alg": "auto", "config": {"x": tune.uniform(0, 1)}},
        {"constraints": {"latency": 1}},
    ],
)
def test_a_trainable_that_returns_nothing_where_a_metric_is_needed(run, asked):
    with pytest.raises(TuneError, match=r"without a result.*tune\.report"):
        run(lambda config: None, **asked)


def test_a_trainable_that_returns_nothing_where_none_is_needed(tmp_path, capsys):
    analysis = tune.run(lambda config: None, storage_path=str(tmp_path), verbose=1)
    assert [(trial.status, trial.last_result) for trial in analysis.trials] == [("TERMINATED", {})]
    assert "no trial reported a result: call tune.report({...})" in capsys.readouterr().out


def test_a_typo_in_the_metric(run):
    with pytest.raises(TuneError, match="it reported 'mean_accuracy', 'loss'; 'mean_acuracy' and 'mean_accuracy' are"):
        run(accuracy, metric="mean_acuracy", mode="max")


def test_an_unpicklable_closure(run):
    lock = threading.Lock()

    def guarded(config):
        with lock:
            return 1.0

    with pytest.raises(TrainableError, match=r"captured variable 'lock'.*cannot be pickled"):
        run(guarded)


def test_a_metric_that_cannot_be_told(run):
    def train(config):
        tune.report({"a": 1.0, "b": 2.0})

    with pytest.raises(GoalError, match="reported 'a', 'b'; say it with metric='a', mode=") as caught:
        run(train, scheduler=tune.schedulers.ASHAScheduler())
    assert caught.value.analysis is not None


def test_metrics_that_disagree(run):
    with pytest.raises(
        ValueError, match=r"metric='loss' in the call but metric='mean_accuracy' in the scheduler"
    ):
        run(accuracy, metric="loss", mode="min",
            scheduler=tune.schedulers.ASHAScheduler(metric="mean_accuracy", mode="max"))  # fmt: skip


@pytest.mark.parametrize("space", [5, "lr", None.__class__])
def test_a_wrong_space(run, space):
    with pytest.raises(SpaceError, match="must be a dict"):
        run(accuracy, config=space)


def test_a_search_that_never_had_a_trial_leaves_no_folder(run, tmp_path):
    circle = {
        "a": tune.sample_from(lambda spec: spec.config.b),
        "b": tune.sample_from(lambda spec: spec.config.a),
    }
    with pytest.raises(SpaceError, match="a -> b -> a"):
        run(accuracy, config=circle, engine="inline")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder():
    with pytest.raises(StorageError, match=r"cannot be written to /proc/nowhere.*storage_path"):
        tune.run(accuracy, storage_path="/proc/nowhere", verbose=0)


def test_a_demand_above_the_machine(run, tmp_path):
    with pytest.raises(ResourceError, match="asks for cpu 4096, but this machine has cpu"):
        run(accuracy, resources_per_trial={"cpu": 4096})
    assert list(tmp_path.iterdir()) == []


def test_a_demand_above_the_machine_for_some_configs(run):
    def demand(config):
        return {"cpu": config["cpus"]}

    with pytest.raises(TuneError, match="asks for cpu 4096") as caught:
        run(accuracy, config={"cpus": tune.grid_search([1, 4096])}, resources_per_trial=demand)
    assert len(caught.value.analysis.trials) == 2


def test_an_unknown_argument(run):
    with pytest.raises(TypeError, match="did you mean 'num_samples'"):
        run(accuracy, num_sample=3)


def test_an_unknown_engine(run):
    with pytest.raises(OvertoneError, match="engine='locl': choose one of 'local', 'ray', 'inline'"):
        run(accuracy, engine="locl")


def test_a_scheduler_that_raises_ends_the_run_and_keeps_what_there_was(run, tmp_path):
    class Broken(tune.schedulers.TrialScheduler):
        def on_result(self, trial, result):
            raise RuntimeError("no idea")

    with pytest.raises(RuntimeError, match="no idea"):
        run(accuracy, metric="loss", mode="min", scheduler=Broken(), name="kept")
    assert len(tune.ExperimentAnalysis(tmp_path / "kept").trials) == 1


def test_a_used_name_moves_the_earlier_results_aside(run, tmp_path, capfd):
    run(accuracy, name="exp")
    run(accuracy, name="exp", verbose=1)
    assert len(list(tmp_path.iterdir())) == 2
    assert "a new experiment begins in" in capfd.readouterr().err


def too_large(config):
    if config["x"] == 1:
        tune.report({"loss": 1.0, "image": "x" * 40_000_000})
    if config["x"] == 2:
        raise ValueError("y" * 40_000_000)
    try:
        tune.report({"loss": 1.0, "image": "x" * 40_000_000})
    except TrainableError:
        tune.report({"loss": 0.5})


def test_a_result_and_an_error_that_fit_in_no_record_fail_their_trials_alone(run):
    with pytest.raises(TuneError, match="2 of 3 trials failed") as caught:
        run(too_large, config={"x": tune.grid_search([0, 1, 2])}, metric="loss", mode="min")
    trials = caught.value.analysis.trials
    assert [trial.status for trial in trials] == ["TERMINATED", "ERROR", "ERROR"]
    assert trials[0].last_result["loss"] == 0.5
    assert "a result may take up to" in trials[1].traceback
    assert len(trials[2].traceback) < 1_100_000
