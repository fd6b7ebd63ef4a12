"""Warm starts from a real Optuna storage, and from one run of Overtone to the next."""

import pytest

from overtone import tune
from overtone.core.goal import Goal
from overtone.errors import OvertoneError
from overtone.run.warm_start import earlier_results
from overtone.space import parse, randint, uniform

LOSS = Goal("loss", "min")


def test_optuna_storages_and_studies(tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    url = f"sqlite:///{tmp_path / 'o.db'}"
    study = optuna.create_study(storage=url, study_name="first")
    study.add_trial(
        optuna.trial.create_trial(
            params={"x": 0.25}, distributions={"x": optuna.distributions.FloatDistribution(0, 1)}, value=2.0
        )
    )
    root = parse({"x": uniform(0, 1)})
    for source in (url, f"{url}#first", study):
        assert earlier_results([source], root, LOSS)[0] == [
            {"config": {"x": 0.25}, "values": [2.0], "violations": []}
        ]
    with pytest.raises(OvertoneError, match=r"directions \('min',\), and this search has mode=\('max',\)"):
        earlier_results([study], root, Goal("loss", "max"))
    optuna.create_study(storage=url, study_name="second")
    with pytest.raises(OvertoneError, match="holds 2 studies"):
        earlier_results([url], root, LOSS)


def train(config):
    tune.report({"loss": config["x"], "size": 1 - config["x"]})


def test_an_experiment_of_our_own_and_a_search_that_does_not_learn(tmp_path):
    options = {
        "metric": "loss", "mode": "min", "engine": "inline", "storage_path": tmp_path, "verbose": 0, "seed": 1,
        "config": {"x": randint(0, 4)},
    }  # fmt: skip
    first = tune.run(train, name="first", search_alg="sobol", num_samples=2, **options)
    tried = {trial.config["x"] for trial in first.trials}
    second = tune.run(
        train, name="second", search_alg="auto", num_samples=-1, warm_start=[first.experiment_path],
        constraints={"size": -1.0}, **options,
    )  # fmt: skip
    assert {trial.config["x"] for trial in second.trials} == set(range(4)) - tried
    assert second.runner_data()["earlier"][0]["config"]["x"] in tried
    assert second.best_config == {"x": 2} or 2 in tried
    with pytest.raises(OvertoneError, match="BasicVariantGenerator does not learn"):
        tune.run(train, name="third", warm_start=[first.experiment_path], **options)
