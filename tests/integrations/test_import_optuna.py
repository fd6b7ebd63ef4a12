"""Studies that Optuna wrote are imported, and those that are exported are opened by Optuna."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from overtone import tune
from overtone.cli import main
from overtone.core.types import cause_of_end
from overtone.importers.import_results import import_results

optuna = pytest.importorskip("optuna")
SPECIAL = {2: math.inf, 4: math.nan}


def objective(trial):
    """Train, be pruned or fail, in a conditional space with choices of all kinds."""
    x = trial.suggest_float("x", 0.01, 1.0, log=True)
    trial.suggest_int("net/width", 1, 9, step=2)
    trial.suggest_float("q", 0.0, 1.0, step=0.25)
    if trial.suggest_categorical("kind", [None, "deep", True, 1.5]) == "deep":
        trial.suggest_int("depth", 2, 64, log=True)
    trial.set_user_attr("seen", [1, {"a": x}])
    for step in range(0, 9, 3):
        trial.report(SPECIAL.get(trial.number, x / (step + 1)), step)
    if trial.number % 5 == 1:
        raise optuna.TrialPruned
    if trial.number % 5 == 3:
        raise ValueError("no luck")
    return x


@pytest.fixture(params=["sqlite", "journal", "package"])
def storage(request, tmp_path):
    """A storage, and the source that `overtone import` is given."""
    if request.param == "journal":
        path = tmp_path / "optuna.log"
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        return optuna.storages.JournalStorage(backend), str(path)
    url = f"sqlite:///{tmp_path}/optuna.db"
    # With the name of a driver, the URL goes by way of the package.
    return url, url.replace("sqlite:", "sqlite+pysqlite:") if request.param == "package" else url


@pytest.mark.filterwarnings("ignore")
def test_values_states_and_curves_are_equal(storage, tmp_path):
    store, source = storage
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=store, study_name="s", direction="minimize", sampler=optuna.samplers.RandomSampler(1)
    )
    study.set_user_attr("who", "me")
    study.optimize(objective, n_trials=6, catch=ValueError)
    study.ask()
    study.enqueue_trial({"x": 0.5})
    seen: list[str] = []
    watch(seen)
    found = import_results(source, tmp_path / "results")
    watch([])
    assert "pysqlite" in source or not seen
    imported = tune.ExperimentAnalysis(found.folder).trials
    check(study.get_trials(), imported)
    assert tune.verify(found.folder).is_same

    back = tmp_path / "back.db"
    assert main(["export", str(found.folder), "--format", "optuna", "-o", str(back)]) == 0
    again = optuna.load_study(study_name="s", storage=f"sqlite:///{back}")
    assert again.user_attrs == {"who": "me"}
    assert again.direction == study.direction
    for one, other in zip(study.get_trials(), again.get_trials(), strict=True):
        same = ("number", "params", "distributions", "datetime_start", "datetime_complete")
        if one.number != 6:  # While it runs, its start is the time of the import or before.
            assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
        assert other.state == one.state
        assert repr(other.intermediate_values) == repr(one.intermediate_values)
        if one.state.name == "COMPLETE":
            assert other.values == one.values
    assert again.best_value == study.best_value
    assert again.best_params == study.best_params
    again.optimize(
        objective, n_trials=2, catch=ValueError
    )  # Optuna goes on with it: first the enqueued trial.
    assert again.trials[7].params["x"] == 0.5
    assert len(again.trials) == 9


_watched: list[list[str]] = []


def watch(seen):
    """Note the use of pickle."""
    if not _watched:
        sys.addaudithook(
            lambda event, args: _watched[-1].append("pickle") if event == "pickle.find_class" else None
        )
    _watched.append(seen)


def check(trials, imported):
    """Compare the trials of a study with those of an experiment."""
    assert len(trials) == len(imported)
    states = {
        "COMPLETE": "TERMINATED",
        "PRUNED": "TERMINATED",
        "FAIL": "ERROR",
        "RUNNING": "RUNNING",
        "WAITING": "PENDING",
    }
    for one, other in zip(trials, imported, strict=True):
        assert other.status == states[one.state.name]
        is_stopped = other.status == "TERMINATED" and cause_of_end(other.why) != "finished"
        assert is_stopped == (one.state.name == "PRUNED")
        assert _flat(other.config) == (one.params or one.system_attrs.get("fixed_params", {}))
        results = list(other.results())
        steps = {result["step"]: result["value"] for result in results if "step" in result}
        assert repr(steps) == repr(one.intermediate_values)
        if one.state.name == "COMPLETE":
            assert results[-1]["value"] == one.value
        if one.user_attrs:
            assert results[-1]["user_attrs"] == one.user_attrs
        if one.state.is_finished():
            lasted = results[-1]["time_total_s"] if results else 0.0
            assert lasted == pytest.approx(one.duration.total_seconds(), abs=1e-3)


def _flat(config, before=""):
    found = {}
    for name, value in config.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{name}/")
        else:
            found[before + name] = value
    return found


@pytest.mark.filterwarnings("ignore")
def test_several_objectives(tmp_path):
    url = f"sqlite:///{tmp_path}/optuna.db"

    def bounds(trial):
        return [trial.params["x"] - 0.5]

    sampler = optuna.samplers.NSGAIISampler(constraints_func=bounds, seed=1)
    study = optuna.create_study(
        storage=url, study_name="mo", directions=["minimize", "maximize"], sampler=sampler
    )
    study.set_metric_names(["loss", "size"])
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), math.cos(trial.params["x"])), n_trials=6)
    found = import_results(url, tmp_path / "results")
    analysis = tune.ExperimentAnalysis(found.folder)
    pairs = [[one.last_result["loss"], one.last_result["size"]] for one in analysis.trials]
    assert pairs == [one.values for one in study.trials]
    best = {one.number for one in study.best_trials}
    assert {one.index for one in analysis.pareto_front()} == best
    back = tmp_path / "back.db"
    main(["export", str(found.folder), "--format", "optuna", "-o", str(back)])
    again = optuna.load_study(study_name="mo", storage=f"sqlite:///{back}")
    assert {one.number for one in again.best_trials} == best
    assert again.metric_names == ["loss", "size"]


@pytest.mark.filterwarnings("ignore")
def test_a_run_is_opened_by_optuna(tmp_path):
    def train(config):
        for step in range(3):
            tune.report({"loss": config["lr"] / (step + 1), "other": step})

    space = {"lr": tune.loguniform(0.01, 1), "n": tune.randint(1, 5), "k": tune.choice(["a", "b"]), "c": 1}
    done = tune.run(
        train, config=space, metric="loss", mode="min", num_samples=4, name="r", storage_path=str(tmp_path), engine="inline",
        verbose=0,
    )  # fmt: skip
    path = Path(tmp_path) / "r.db"
    assert main(["export", str(tmp_path / "r"), "--format", "optuna", "-o", str(path)]) == 0
    study = optuna.load_study(study_name="r", storage=f"sqlite:///{path}")
    assert study.best_value == min(one.last_result["loss"] for one in done.trials)
    assert study.best_params == {k: v for k, v in done.best_config.items() if k != "c"}
    assert study.trials[0].distributions["lr"] == optuna.distributions.FloatDistribution(0.01, 1, log=True)
    assert len(study.trials[0].intermediate_values) == 3
    assert study.trials[0].user_attrs["other"] == 2
