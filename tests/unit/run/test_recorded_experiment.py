"""An experiment made again from its journal's header."""

import pytest

from overtone import tune
from overtone.errors import OvertoneError
from overtone.experiment import Experiment
from overtone.journal.writer import JournalWriter
from overtone.run.assemble import assemble
from overtone.run.header.journal_setup import open_journal
from overtone.run.plan import plan
from overtone.run.resume.recorded_experiment import recorded_experiment
from overtone.searchers import AutoSearch
from overtone.searchers.library.hyperopt import HyperOptSearch
from overtone.searchers.library.optuna import OptunaSearch
from overtone.tune.schedulers import ASHAScheduler
from overtone.tune.stopper import MaximumIterationStopper


def curve(config, t):
    return {"loss": config["x"] / t}


def recorded(tmp_path, **fields):
    """The folder of an experiment that has only begun."""
    given = {"space": {"x": tune.uniform(0, 1)}, "engine": "simulated", "tensorboard": False}
    experiment = Experiment(curve, storage=tmp_path, name="exp", **{**given, **fields})
    parts = assemble(plan(experiment))
    open_journal(parts).close()
    return parts.folder


def test_everything_that_is_data_comes_back(tmp_path):
    folder = recorded(
        tmp_path, num_samples=7, metric="loss", mode="min", max_failures=2, resources={"cpu": 2},
        scheduler=ASHAScheduler(max_t=27, grace_period=3), stop=MaximumIterationStopper(5),
        points_to_evaluate=[{"x": 0.5}], time_budget_s=100.0,
    )  # fmt: skip
    found = recorded_experiment(folder, curve, {})
    assert (found.name, found.storage, found.resume) == ("exp", tmp_path, True)
    assert (found.num_samples, found.max_failures, found.time_budget_s) == (7, 2, 100.0)
    assert (list(found.metric), list(found.mode)) == (["loss"], ["min"])
    assert found.space["x"].upper == 1
    assert isinstance(found.scheduler, ASHAScheduler)
    assert found.scheduler.arguments == ((), {"max_t": 27, "grace_period": 3})
    assert isinstance(found.stop, MaximumIterationStopper)
    assert list(found.points_to_evaluate) == [{"x": 0.5}]
    assert found.checkpoints == Experiment(curve).checkpoints


@pytest.mark.parametrize("searcher", [OptunaSearch(), HyperOptSearch(), AutoSearch()])
def test_a_searcher_comes_back_from_the_sub_folder_that_it_is_in(tmp_path, searcher):
    folder = recorded(tmp_path, searcher=searcher, num_samples=2, metric="loss", mode="min")
    assert type(recorded_experiment(folder, curve, {}).searcher) is type(searcher)


def test_a_list_of_configurations_comes_back(tmp_path):
    folder = recorded(tmp_path, space=[{"x": 1}, {"x": 2}])
    assert recorded_experiment(folder, curve, {}).space == [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"stop": lambda trial_id, result: False}, "stop"),
        ({"space": {"x": tune.sample_from(lambda spec: 1)}}, "param_space"),
        ({"resources": lambda config: {"cpu": 1}}, "resources_per_trial"),
    ],
)
def test_what_is_not_data_must_be_passed_again_and_the_error_names_it(tmp_path, fields, name):
    folder = recorded(tmp_path, **fields)
    with pytest.raises(OvertoneError, match=rf"{name} is not plain data.*Pass it again.*{name}="):
        recorded_experiment(folder, curve, {})
    assert recorded_experiment(folder, curve, fields).name == "exp"


@pytest.mark.parametrize(
    "path",
    ["os.system", "subprocess.Popen", "overtone.run.execute.execute", "overtone.schedulers.asha.insort",
     "overtone.schedulers.nothing.Here", "builtins.eval", "overtone.searchers.library.optuna.OptunaSearch",
     "overtone.searchers.library.Any", "overtone.searchers.Config"],
)  # fmt: skip
def test_a_journal_brings_only_parts_of_overtone_to_life(tmp_path, path):
    folder = tmp_path / "exp"
    folder.mkdir()
    parts = {
        "options": {}, "metric": [], "mode": [], "space": {}, "stop": None, "searcher": None,
        "scheduler": {"path": path, "arguments": {"command": "true"}}, "checkpoints": {},
    }  # fmt: skip
    JournalWriter(folder / "journal.jsonl", {"format": 1, "seed": 1, "parts": parts}).close()
    with pytest.raises(OvertoneError, match="scheduler is not plain data"):
        recorded_experiment(folder, curve, {})
