"""A sampler that the user made suggests through OptunaSearch what it suggests in a study of Optuna alone."""

import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

from overtone import tune
from overtone.engines.inline import Inline
from overtone.engines.local import Local
from overtone.tune.schedulers import ASHAScheduler
from overtone.tune.search.optuna import OptunaSearch

optuna = pytest.importorskip("optuna")

N, KILLED_AT, SEED = 16, 7, 3
SPACE = {
    "x": tune.uniform(-5, 5), "lr": tune.loguniform(1e-4, 1), "n": tune.randint(1, 9),
    "kind": tune.choice(["a", "b", "c"]),
}  # fmt: skip
GRID = {"x": [-1.0, 0.0, 1.5], "lr": [0.01, 0.1], "n": [2, 3], "kind": ["a", "b"]}


def samplers():
    """By name, what makes a new one, and whether its package is installed."""
    kinds = optuna.samplers
    quiet = {"warn_independent_sampling": False}
    return {
        "tpe": lambda: kinds.TPESampler(seed=SEED),
        "tpe-multivariate": lambda: kinds.TPESampler(seed=SEED, multivariate=True, constant_liar=True),
        "cmaes": lambda: kinds.CmaEsSampler(seed=SEED, n_startup_trials=3, **quiet),
        "gp": lambda: kinds.GPSampler(seed=SEED, n_startup_trials=N - 2),
        "random": lambda: kinds.RandomSampler(seed=SEED),
        "nsga2": lambda: kinds.NSGAIISampler(seed=SEED, population_size=4),
        "qmc": lambda: kinds.QMCSampler(seed=SEED, **quiet),
        "grid": lambda: kinds.GridSampler(GRID, seed=SEED),
    }


NAMES = ["tpe", "tpe-multivariate", "cmaes", "gp", "random", "nsga2", "qmc", "grid"]


def made(name):
    if name in ("cmaes", "gp"):
        pytest.importorskip("cmaes" if name == "cmaes" else "torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return samplers()[name]()


def loss(config):
    kind = {"a": 0, "b": 1, "c": 2}[config["kind"]]
    return (config["x"] - 1) ** 2 + abs(config["lr"] - 0.1) + config["n"] * 0.1 + kind


def define(trial):
    trial.suggest_float("x", -5, 5)
    trial.suggest_float("lr", 1e-4, 1, log=True)
    trial.suggest_int("n", 1, 8)
    trial.suggest_categorical("kind", ["a", "b", "c"])


def train(config):
    tune.report({"loss": loss(config), "size": config["n"]})


def alone(name, directions=("minimize",), n=N):
    """The parameters of all trials of a study of Optuna without Overtone."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=directions, sampler=made(name))

    def objective(trial):
        define(trial)
        return (loss(trial.params), trial.params["n"])[: len(directions)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(objective, n_trials=n)
    return [trial.params for trial in study.trials]


def searched(name, folder, engine=None, space=SPACE, metric="loss", mode="min", n=N, trainable=train):
    """The configs of all trials."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tune.run(
            trainable, config={} if callable(space) else space, metric=metric, mode=mode, num_samples=n,
            search_alg=OptunaSearch(space if callable(space) else None, sampler=made(name)), verbose=0,
            engine=engine or Inline(cpus=4), storage_path=str(folder), name="search", resume="AUTO",
        )  # fmt: skip
    return [trial.config for trial in found.trials]


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.full] * (one == "gp")) for one in NAMES],  # it loads PyTorch
)
def test_the_suggestions_are_those_of_optuna_alone(name, tmp_path):
    assert searched(name, tmp_path) == alone(name)


@pytest.mark.parametrize("name", ["tpe", "nsga2"])
def test_also_for_a_space_that_optuna_defines(name, tmp_path):
    assert searched(name, tmp_path, space=define) == alone(name)


def test_also_where_trials_are_processes(tmp_path):
    assert searched("tpe", tmp_path, Local(cpus=1)) == alone("tpe")


@pytest.mark.parametrize("name", ["tpe", "nsga2", "random"])
def test_also_with_two_objectives(name, tmp_path):
    found = searched(name, tmp_path, metric=["loss", "size"], mode=["min", "max"])
    assert found == alone(name, ("minimize", "maximize"))


MAX_T = 9


def curve(config, t):
    """The loss after t steps; of some NaN from the first one on, of some at the end, of some infinite."""
    if config["x"] < -4 or (t == MAX_T and config["n"] < 4):
        return float("nan")
    return float("inf") if config["n"] == 8 else loss(config) + 3 * abs(config["x"]) / t


def train_long(config):
    for t in range(1, MAX_T + 1):
        tune.report({"loss": curve(config, t)})


def pruned_alone(name, lengths):
    """A study of Optuna without Overtone, whose objective raises TrialPruned after so many steps of each trial."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=made(name))

    def objective(trial):
        define(trial)
        for t in range(1, lengths[trial.number] + 1):
            value = curve(trial.params, t)
            trial.report(value, t)
        if t < MAX_T:
            raise optuna.TrialPruned
        return value

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(objective, n_trials=len(lengths))
    return study


def stopped_early(name, folder, trainable=train_long):
    """The trials of a search whose scheduler stops some, and its study."""
    searcher = OptunaSearch(sampler=made(name), num_samples=2 * N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tune.run(
            trainable, config=SPACE, metric="loss", mode="min", search_alg=searcher, verbose=0,
            scheduler=ASHAScheduler(max_t=MAX_T, reduction_factor=2), engine=Inline(cpus=1), storage_path=str(folder),
            name="search", resume="AUTO",
        )  # fmt: skip
    return found.trials, searcher.study


def check_as_pruned_alone(name, trials, study):
    reference = pruned_alone(name, [trial.last_result["training_iteration"] for trial in trials])
    assert [trial.config for trial in trials] == [one.params for one in reference.trials]
    assert [one.state for one in study.trials] == [one.state for one in reference.trials]
    assert {one.state.name for one in study.trials} == {"COMPLETE", "PRUNED", "FAIL"}
    for ours, other in zip(study.trials, reference.trials, strict=True):
        assert ours.value == other.value
        if ours.state.name == "PRUNED":
            assert ours.last_step == other.last_step


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.full] * (one == "gp")) for one in NAMES[:-1]]
)
def test_also_where_a_scheduler_stops_trials_and_some_report_nan(name, tmp_path):
    check_as_pruned_alone(name, *stopped_early(name, tmp_path))


def test_a_grid_ends_the_search_when_it_was_gone_through(tmp_path):
    n_points = 3 * 2 * 2 * 2
    found = searched("grid", tmp_path, n=n_points + 5)
    assert found == alone("grid", n=n_points + 5)
    assert len(found) == n_points
    assert searched("grid", tmp_path, n=n_points + 5) == found


KILLED = f"""
    import os, signal, sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import test_optuna_alone as case

    calls = 0

    def train(config):
        global calls
        calls += 1
        if calls == case.KILLED_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        case.train(config)

    for name in sys.argv[2:]:
        child = os.fork()
        if not child:
            case.searched(name, os.path.join(sys.argv[1], name), trainable=train)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, name
"""


def test_a_resume_after_a_kill_suggests_what_optuna_alone_does(tmp_path):
    names = [name for name in NAMES if name != "gp"]
    pytest.importorskip("cmaes")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), *names], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in names:
        journal = (tmp_path / name / "search" / "journal.jsonl").read_text()
        assert journal.count('"e":"suggested"') == KILLED_AT
        assert searched(name, tmp_path / name) == alone(name), name


KILLED_TWICE = f"""
    import os, signal, sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import test_optuna_alone as case

    steps = 0

    def train(config):
        global steps
        for t in range(1, case.MAX_T + 1):
            steps += 1
            if steps == 30:
                os.kill(os.getpid(), signal.SIGKILL)
            case.tune.report({{"loss": case.curve(config, t)}})

    case.stopped_early(sys.argv[2], sys.argv[1], trainable=train)
"""


@pytest.mark.parametrize("name", ["tpe", "cmaes", "nsga2"])
def test_a_resume_tells_of_stopped_trials_again(name, tmp_path):
    if name == "cmaes":
        pytest.importorskip("cmaes")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(KILLED_TWICE), str(tmp_path), name],
            capture_output=True,
            text=True,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
    check_as_pruned_alone(name, *stopped_early(name, tmp_path))


def test_one_without_a_seed_goes_on_from_what_was_logged(tmp_path):
    def searcher(n):
        return OptunaSearch(sampler=optuna.samplers.TPESampler(), num_samples=n)

    options = {
        "config": SPACE, "metric": "loss", "mode": "min", "engine": Inline(cpus=1), "verbose": 0,
        "storage_path": str(tmp_path), "name": "search",
    }  # fmt: skip
    before = [trial.config for trial in tune.run(train, search_alg=searcher(5), **options).trials]
    again = searcher(8)
    found = tune.run(train, search_alg=again, resume=True, **options)
    assert [trial.config for trial in found.trials][:5] == before
    complete = [one.params for one in again.study.trials if one.state.name == "COMPLETE"]
    assert complete == [trial.config for trial in found.trials]


def test_a_name_is_freshly_seeded_for_each_suggestion(tmp_path):
    found = tune.run(
        train, config=SPACE, metric="loss", mode="min", num_samples=4, seed=SEED, engine=Inline(cpus=1), verbose=0,
        search_alg=OptunaSearch(sampler="random"), storage_path=str(tmp_path),
    )  # fmt: skip
    assert [trial.config for trial in found.trials] != alone("random", n=4)
