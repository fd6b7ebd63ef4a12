"""Every kind of trainable, and the objects that trials share, through the public API."""

import functools
import math
import os
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from overtone import tune
from overtone.engines.local import Local
from overtone.errors import TrainableError

LARGE_MB = 50


@pytest.fixture(params=["local", "inline"])
def engine(request):
    return request.param


@pytest.fixture
def run(tmp_path):
    def run(trainable, **arguments):
        return tune.run(trainable, storage_path=str(tmp_path), verbose=0, tensorboard=False, **arguments)

    return run


def function(config):
    for i in range(3):
        tune.report({"score": config["x"] * (i + 1)})


def keywords(config):
    for i in range(3):
        tune.report(score=config["x"] * (i + 1))


def old_function(config, reporter):
    for i in range(3):
        reporter(score=config["x"] * (i + 1))


def with_handle(tune):
    for i in range(3):
        tune.report(score=tune.params["x"] * (i + 1))


def without_arguments():
    for i in range(3):
        tune.report(score=tune.params["x"] * (i + 1))


def generator(config):
    for i in range(3):
        yield {"score": config["x"] * (i + 1)}


def returns_a_dict(config):
    return {"score": config["x"] * 3}


def scaled(config, factor, offset=0):
    return {"score": config["x"] * factor + offset}


class Callable:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, config):
        return {"score": config["x"] * self.factor}

    def method(self, config):
        for i in range(self.factor):
            tune.report({"score": config["x"] * (i + 1)})


class Stepped(tune.Trainable):
    def setup(self, config):
        self.x = config["x"]

    def step(self):
        done = self.iteration == 2
        return {"score": self.x * (self.iteration + 1), "done": done}


class OldStepped(tune.Trainable):
    def _setup(self, config):
        self.x = config["x"]

    def _train(self):
        return {"score": self.x * (self._iteration + 1), "done": self._iteration == 2}


KINDS = {
    "function": (function, "function", 3),
    "keywords": (keywords, "keywords", 3),
    "reporter": (old_function, "old_function", 3),
    "handle": (with_handle, "with_handle", 3),
    "no arguments": (without_arguments, "without_arguments", 3),
    "generator": (generator, "generator", 3),
    "dict": (returns_a_dict, "returns_a_dict", 1),
    "lambda": (lambda config: {"score": config["x"] * 3}, "lambda", 1),
    "partial": (functools.partial(scaled, factor=2, offset=2), "scaled", 1),
    "positional partial": (
        functools.partial(lambda factor, config: {"score": config["x"] * factor}, 3),
        "lambda",
        1,
    ),
    "callable object": (Callable(3), "Callable", 1),
    "bound method": (Callable(3).method, "method", 3),
    "class": (Stepped, "Stepped", 3),
    "old class": (OldStepped, "OldStepped", 3),
    "with_parameters": (tune.with_parameters(scaled, factor=2, offset=2), "scaled", 1),
    "with_resources": (tune.with_resources(function, {"cpu": 1}), "function", 3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_trainable(run, engine, kind):
    trainable, name, n_results = KINDS[kind]
    analysis = run(
        trainable, config={"x": tune.grid_search([1, 2])}, metric="score", mode="max", engine=engine
    )
    factor_and_offset = {"partial": (2, 2), "with_parameters": (2, 2)}.get(kind, (3, 0))
    assert analysis.best_config == {"x": 2}
    assert analysis.best_result["score"] == 2 * factor_and_offset[0] + factor_and_offset[1]
    assert {trial.trainable_name for trial in analysis.trials} == {name}
    assert [trial.num_results for trial in analysis.trials] == [n_results] * 2
    assert Path(analysis.experiment_path).name.startswith(f"{name}_20")
    assert len(analysis.dataframe()) == 2
    assert [list(frame["training_iteration"]) for frame in analysis.trial_dataframes.values()] == [
        list(range(1, n_results + 1))
    ] * 2


def test_a_number_is_a_result(run, engine):
    analysis = run(
        lambda config: config["x"] ** 2, config={"x": tune.grid_search([3, 2])}, mode="min", engine=engine
    )
    assert analysis.get_best_config("_metric", "min") == {"x": 2}
    assert sorted(analysis.results_df["_metric"]) == [4, 9]


@pytest.mark.parametrize("given", [None, 5, {"run": function}])
def test_what_is_no_trainable(run, tmp_path, given):
    with pytest.raises(
        (TrainableError, TypeError), match=r"cannot be trained: give a function|'run' must look like"
    ):
        run(given)
    assert list(tmp_path.iterdir()) == []


def test_defined_in_a_function_with_a_closure(run, engine):
    offset = {"a": 5}

    class Local(tune.Trainable):
        def step(self):
            return {"score": offset["a"], "done": True}

    assert run(Local, engine=engine).trials[0].last_result["score"] == 5


def test_parameters_of_a_class(run, engine):
    class Model(tune.Trainable):
        def setup(self, config, data=None, factor=1):
            self.value = float(data.sum()) * factor

        def step(self):
            return {"score": self.value, "done": True}

    trainable = tune.with_parameters(Model, data=np.ones(100_000), factor=2)
    assert run(trainable, engine=engine).trials[0].last_result["score"] == 200_000


def test_parameters_resources_and_name_together(run, engine):
    trainable = tune.with_resources(tune.with_parameters(scaled, factor=1), {"cpu": 2})
    analysis = run(trainable, config={"x": 4}, engine=engine)
    (trial,) = analysis.trials
    assert trial.last_result["score"] == 4
    assert trial.resources.total() == {"cpu": 2}
    assert str(trial) == f"scaled_{trial.trial_id}"


def test_what_was_put_is_there_in_trials(run, engine):
    ref = tune.put({"data": np.arange(100_000)})

    def train(config):
        (data,) = tune.get([ref])
        return {"score": int(data["data"][config["i"]]), "again": int(tune.get(ref)["data"][-1])}

    analysis = run(train, config={"i": tune.grid_search([1, 77])}, engine=engine)
    assert sorted(analysis.results_df["score"]) == [1, 77]
    assert set(analysis.results_df["again"]) == {99_999}


def test_a_large_object_is_shared_without_a_copy_for_each_trial(run, tmp_path):
    def train(config, data):
        before = psutil.Process().memory_full_info().uss
        total = float(data.sum())  # touches every page

        def all_have(what):
            Path(config["folder"], f"{what} {tune.get_trial_id()}").touch()
            while sum(name.startswith(what) for name in os.listdir(config["folder"])) < 4:
                time.sleep(0.005)

        all_have("touched")  # all four hold it at the same time, until each has looked:
        grown = psutil.Process().memory_full_info().uss - before
        all_have("looked")  # a page that only one process holds is counted as its own
        return {"total": total, "grown_mb": grown / 1e6, "uss_mb": before / 1e6}

    together = tmp_path / "together"
    together.mkdir()
    data = np.ones(LARGE_MB * 125_000)
    analysis = run(
        tune.with_parameters(train, data=data),
        config={"folder": str(together)},
        num_samples=4,
        engine=Local(cpus=4),
    )
    frame = analysis.results_df
    assert list(frame["total"]) == [LARGE_MB * 125_000] * 4
    assert frame["grown_mb"].max() < 5
    assert frame["uss_mb"].max() < 30


def test_what_was_put_is_shared_without_a_copy_for_each_trial(run):
    ref = tune.put(np.ones(LARGE_MB * 125_000))

    def train(config):
        before = psutil.Process().memory_full_info().uss
        total = float(tune.get(ref).sum())
        return {"total": total, "grown_mb": (psutil.Process().memory_full_info().uss - before) / 1e6}

    frame = run(train, num_samples=2).results_df
    assert list(frame["total"]) == [LARGE_MB * 125_000] * 2
    assert frame["grown_mb"].max() < LARGE_MB / 3  # numpy is part of it: the trainable does not name it


def test_once_one_of_eight_trials_does_the_work(run, tmp_path):
    def train(config):
        folder = Path(config["folder"])
        (folder / f"here {config['i']}").touch()
        while len(list(folder.glob("here *"))) < 8:  # they start together
            time.sleep(0.005)
        with tune.once(str(folder)):
            file = folder / "data"
            if not file.exists():
                with (folder / "log").open("a") as log:
                    log.write("download\n")
                time.sleep(0.05)
                file.write_text("42")
        return {"value": int(file.read_text())}

    together = tmp_path / "together"
    together.mkdir()
    analysis = run(
        train, config={"folder": str(together), "i": tune.grid_search(list(range(8)))}, engine=Local(cpus=8)
    )
    assert list(analysis.results_df["value"]) == [42] * 8
    assert (together / "log").read_text() == "download\n"


def test_numbers_of_numpy_are_plain_numbers(run, engine):
    def train(config):
        tune.report(
            {"f": np.float32(0.5), "i": np.int64(3), "b": np.bool_(True), "nested": {"a": np.arange(3)}}
        )

    (trial,) = run(train, metric="f", mode="min", engine=engine).trials
    last = trial.last_result
    assert {name: last[name] for name in ("f", "i", "b", "nested")} == {
        "f": 0.5,
        "i": 3,
        "b": True,
        "nested": {"a": [0, 1, 2]},
    }
    assert [type(last[name]) for name in ("f", "i", "b")] == [float, int, bool]


def test_numbers_of_torch_are_plain_numbers(run):
    torch = pytest.importorskip("torch")

    def train(config):
        return {"loss": torch.tensor(0.25), "n": torch.tensor(2), "many": torch.ones(2)}

    last = run(train, metric="loss", mode="min", engine="inline").trials[0].last_result
    assert [last[name] for name in ("loss", "n", "many")] == [0.25, 2, [1.0, 1.0]]
    assert [type(last[name]) for name in ("loss", "n")] == [float, int]


def test_nan_never_wins(run, engine):
    def train(config):
        tune.report({"loss": config["loss"]})

    analysis = run(
        train,
        config={"loss": tune.grid_search([math.nan, 1.0, math.inf, 0.5, -math.inf])},
        metric="loss",
        mode="min",
        engine=engine,
    )
    assert analysis.best_config == {"loss": 0.5}
    assert sum(math.isnan(value) for value in analysis.results_df["loss"]) == 1


def test_a_metric_in_a_metric(run, engine):
    def train(config):
        for i in range(3):
            tune.report({"eval": {"acc": config["x"] + i, "loss": 1}, "训练": {"损失": 0.5}})

    analysis = run(
        train,
        config={"x": tune.grid_search([1, 4]), "名字": "模型"},
        metric="eval/acc",
        mode="max",
        stop={"eval/acc": 3},
        engine=engine,
    )
    assert analysis.best_config == {"x": 4, "名字": "模型"}
    assert [trial.num_results for trial in analysis.trials] == [3, 1]
    assert list(analysis.results_df["训练/损失"]) == [0.5, 0.5]
    assert list(analysis.results_df["config/名字"]) == ["模型", "模型"]


def test_reports_without_the_goal_are_kept(run, engine):
    def train(config):
        for epoch in range(1, 11):
            metrics = {"loss": 1 / epoch}
            if epoch % 5 == 0:
                metrics["acc"] = epoch * config["x"]
            tune.report(metrics)

    analysis = run(
        train,
        config={"x": tune.grid_search([1, 2])},
        metric="acc",
        mode="max",
        engine=engine,
        scheduler=tune.schedulers.ASHAScheduler(max_t=10),
    )
    assert analysis.best_config == {"x": 2}
    best = analysis.best_dataframe
    assert len(best) == 10
    assert list(best["acc"].dropna()) == [10, 20]


def test_a_thousand_tiny_trials(run):
    analysis = run(
        lambda config: config["x"],
        config={"x": tune.uniform(0, 1)},
        num_samples=1000,
        mode="max",
        metric="_metric",
        reuse_actors=True,
    )
    assert len(analysis.trials) == 1000
    assert analysis.best_result["_metric"] == max(trial.config["x"] for trial in analysis.trials)
