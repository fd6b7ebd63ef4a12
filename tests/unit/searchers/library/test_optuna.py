"""What Optuna's studies are told, and which spaces and samplers are taken."""

import sys
from dataclasses import replace
from math import inf, nan
from types import ModuleType, SimpleNamespace

import pytest

from overtone import tune
from overtone.core.goal import Goal
from overtone.core.trial import Status
from overtone.core.types import Result, Why
from overtone.engines.simulated import Simulated
from overtone.errors import MissingPackageError, OvertoneError, SpaceError
from overtone.searchers.library import library, optuna_samplers
from overtone.searchers.library.optuna import OptunaSearch
from overtone.searchers.library.optuna_params import decoded, encoded
from overtone.space import parse
from overtone.space.constraint import space as space_of
from overtone.testing.search_course import Course, resumed

optuna = pytest.importorskip("optuna")
SPACE = {"x": tune.uniform(0, 1)}


def course(given=None, mode="max", **arguments):
    searcher = OptunaSearch(**arguments)
    searcher.goal = Goal("score", mode)
    return Course(searcher, SPACE if given is None else given)


def test_the_study_has_the_parameters_under_their_names_and_values():
    space = {
        "lr": tune.loguniform(1e-3, 1), "act": tune.choice(["relu", "tanh"]), "n": tune.randint(1, 9),
        "in": {"q": tune.qrandint(8, 64, 8)},
    }  # fmt: skip
    found = course(space)
    config = found.ask().config
    params = found.searcher.study.trials[0].params
    assert params == {
        "lr": config["lr"],
        "act": config["act"],
        "n": config["n"],
        "in/q": config["in"]["q"] // 8,
    }


@pytest.mark.parametrize("is_conditional", [False, True])
def test_a_sampler_that_compares_the_trials_once_suggests_the_same(is_conditional, monkeypatch):
    space = {"x": tune.uniform(0, 1), "n": tune.randint(1, 9), "one": tune.choice([3])}
    if is_conditional:
        space["b"] = tune.choice([{"z": tune.uniform(0, 1)}, 2])

    def configs():
        found = course(space, seed=1)
        trials = []
        for i in range(25):
            trials.append(found.ask())
            found.end(trials[-1], "value", trials[-1].config["x"] + i % 3)
        return [trial.config for trial in trials]

    compared = []
    real = optuna.search_space.IntersectionSearchSpace.calculate
    monkeypatch.setattr(
        optuna.search_space.IntersectionSearchSpace, "calculate",
        lambda *args: compared.append(1) or real(*args),
    )  # fmt: skip
    looked_once, n_once = configs(), len(compared)
    monkeypatch.setattr(optuna_samplers, "_look_once", lambda one: None)
    assert configs() == looked_once
    assert (n_once == 25) is is_conditional


def test_trials_that_draw_their_own_are_compared_each_time(monkeypatch):
    def define(trial):
        for i in range(trial.suggest_int("n", 1, 3)):
            trial.suggest_float(f"x{i}", 0, 1)

    def configs():
        found = course({}, space=define, seed=1)
        for _ in range(20):
            trial = found.ask()
            found.end(trial, "value", sum(trial.config.values()))
        return found.configs

    now = configs()
    monkeypatch.setattr(optuna_samplers, "_look_once", lambda one: None)
    assert configs() == now


def test_values_have_the_sign_of_the_metric():
    found = course(mode="min")
    found.end(found.ask(), "value", -0.5)  # the score, which is the loss with its sign turned
    found.end(found.ask(), "raised", 0)
    found.end(found.ask(), "silent", 0)
    found.ask()
    study = found.searcher.study
    assert study.direction.name == "MINIMIZE"
    assert [(one.state.name, one.value) for one in study.trials] == [
        ("COMPLETE", 0.5), ("FAIL", None), ("FAIL", None), ("RUNNING", None),
    ]  # fmt: skip


def test_infinite_results_count_as_the_worst_that_was_found():
    found = course()
    found.end(found.ask(), "-inf", 1.0)  # after a report of 0.0
    for value in (2.0, 3.0):
        found.end(found.ask(), "value", value)
    found.end(found.ask(), "nan", 5.0)
    found.end(found.ask(), "inf", 5.0)
    assert [one.value for one in found.searcher.study.trials] == [None, 2.0, 3.0, 2.0, 3.0]


def told(found, trial, *losses, rule=None, violations=()):
    """Let a trial report these losses and end, stopped by `rule` if one is given."""
    for t, value in enumerate(losses, 1):
        result = found.searcher.goal.result({"score": value, "training_iteration": t})
        found.searcher.on_result(trial, replace(result, violations=violations))
    trial.status, trial.why = Status.TERMINATED, rule and Why(rule, t=float(len(losses)))
    found.searcher.on_trial_end(trial)


def sampler_object():
    return optuna.samplers.RandomSampler(seed=3)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_an_object_is_told_what_an_objective_of_optuna_would_tell(mode):
    found = course(sampler=sampler_object(), mode=mode)
    for values, rule in (
        ([3.0, 2.0], "asha"), ([3.0, 2.0], "max_t"), ([3.0, 2.0], "stop"), ([1.0, nan], None),
        ([1.0, nan], "asha"), ([1.0, inf], None), ([1.0, -inf], "returned"), ([], "asha"),
    ):  # fmt: skip
        told(found, found.ask(), *values, rule=rule)
    assert [(one.state.name, one.value) for one in found.searcher.study.trials] == [
        ("PRUNED", 2.0), ("COMPLETE", 2.0), ("COMPLETE", 2.0), ("FAIL", None), ("PRUNED", None),
        ("COMPLETE", inf), ("COMPLETE", -inf), ("FAIL", None),
    ]  # fmt: skip
    assert found.searcher.study.trials[0].intermediate_values == {2: 2.0}


def test_a_trial_that_ran_and_was_stopped_before_a_report_is_pruned_without_a_value():
    found = course(sampler=sampler_object())
    ran, waited, raised = found.ask(), found.ask(), found.ask()
    ran.attempt = raised.attempt = 1
    for trial in (ran, waited):
        told(found, trial, rule="stop_trial")
    raised.status, raised.why = Status.ERROR, Why("raised")
    found.searcher.on_trial_end(raised)
    assert [one.state.name for one in found.searcher.study.trials] == ["PRUNED", "FAIL", "FAIL"]


def test_known_rewards_of_an_object_are_told_as_they_are():
    points = [{"x": 0.1}, {"x": 0.2}, {"x": 0.3}]
    rewards = [2.0, nan, inf]
    found = course(sampler=sampler_object(), mode="min", points_to_evaluate=points, evaluated_rewards=rewards)
    assert [(one.state.name, one.value) for one in found.searcher.study.trials] == [
        ("COMPLETE", 2.0), ("FAIL", None), ("COMPLETE", inf),
    ]  # fmt: skip


@pytest.mark.parametrize(("t", "stored"), [(2**31 + 5, 2**31 - 1), (1e19, 2**31 - 1), (7.0, 7)])
def test_a_large_step_fits_into_every_database(t, stored, tmp_path):
    for storage, step in ((f"sqlite:///{tmp_path}/study.db", stored), (None, int(t))):
        found = course(sampler=sampler_object(), storage=storage)
        trial = found.ask()
        found.searcher.on_result(trial, Result(t, 1.0, (1.0,), (), {"score": 1.0}))
        trial.status, trial.why = Status.TERMINATED, Why("asha")
        found.searcher.on_trial_end(trial)
        assert found.searcher.study.trials[0].last_step == step


@pytest.mark.parametrize("sampler", [None, "tpe", "cmaes", "nsga2"])
def test_a_name_is_told_the_last_value_of_a_stopped_trial(sampler):
    found = course(sampler=sampler, mode="min")
    for values, rule in (([3.0, 2.0], "asha"), ([5.0], None), ([nan], None)):
        told(found, found.ask(), *values, rule=rule)
    states = [(one.state.name, one.value) for one in found.searcher.study.trials]
    assert states == [("COMPLETE", 2.0), ("COMPLETE", 5.0), ("COMPLETE", 5.0)]


def test_a_stopped_trial_has_its_constraints():
    found = course(sampler=sampler_object())
    told(found, found.ask(), 1.0, rule="asha", violations=(0.25, -1.0))
    (only,) = found.searcher.study.trials
    assert (only.state.name, dict(only.constraints)) == ("PRUNED", {"0": 0.25, "1": -1.0})


@pytest.mark.parametrize("t", [0.0, 2.75, -3.0, inf, nan])
def test_a_step_is_a_whole_number(t):
    found = course(sampler=sampler_object())
    trial = found.ask()
    found.searcher.on_result(trial, Result(t, 1.0, (1.0,)))
    trial.status, trial.why = Status.TERMINATED, Why("median")
    found.searcher.on_trial_end(trial)
    assert found.searcher.study.trials[0].intermediate_values == {2 if t == 2.75 else 0: 1.0}


def test_a_stopped_trial_of_two_objectives_is_pruned_without_values():
    searcher = OptunaSearch(sampler=sampler_object())
    searcher.goal = Goal(["score", "latency"], ["max", "min"])
    found = Course(searcher, SPACE, objectives=2)
    trial = found.ask()
    trial.why = Why("asha")
    found.end(trial, "value", 2.0)
    found.end(found.ask(), "value", 1.0)
    assert [one.state.name for one in searcher.study.trials] == ["PRUNED", "COMPLETE"]


def test_a_stored_trial_is_told_of_after_a_resume(tmp_path):
    arguments = {"storage": f"sqlite:///{tmp_path}/study.db", "study_name": "mine", "mode": "min"}
    found = course(sampler=sampler_object(), **arguments)
    ended, open_ = found.ask(), found.ask()
    told(found, ended, 4.0, 3.0, rule="asha", violations=(0.5,))
    again = course(sampler=sampler_object(), **arguments)
    for index, trial in enumerate((ended, open_)):
        again.searcher.on_suggested(index, trial.config)
    told(again, ended, 4.0, 3.0, rule="asha", violations=(0.5,))
    told(again, open_, 6.0, 5.0, rule="asha", violations=(0.25, -1.0))
    stored = optuna.load_study(study_name="mine", storage=arguments["storage"]).trials
    assert [(one.state.name, one.value, one.last_step) for one in stored] == [
        ("PRUNED", 3.0, 2),
        ("PRUNED", 5.0, 2),
    ]
    assert [dict(one.constraints) for one in stored] == [{"0": 0.5}, {"0": 0.25, "1": -1.0}]


def test_constraints_reach_the_sampler():
    found = course()
    trial = found.ask()
    found.searcher.on_result(trial, Result(1, 1.0, (1.0,), (0.25, -1.0)))
    found.end(trial, "silent", 0)
    assert dict(found.searcher.study.trials[0].constraints) == {"0": 0.25, "1": -1.0}


def test_two_objectives_make_a_front():
    searcher = OptunaSearch()
    searcher.goal = Goal(["score", "latency"], ["max", "min"])
    found = Course(searcher, SPACE, objectives=2)
    found.end(found.ask(), "value", 2.0)
    assert [one.values for one in searcher.study.best_trials] == [[2.0, 2.0]]


def test_a_space_may_be_defined_by_running_it():
    def define(trial):
        if trial.suggest_categorical("kind", ["svm", "forest"]) == "svm":
            trial.suggest_float("svm/c", 1e-3, 1e3, log=True)
        else:
            trial.suggest_int("depth", 1, 9)
        return {"fixed": 3}

    found = course({"rest": "here"}, space=define)
    for i in range(12):
        found.end(found.ask(), "value", float(i))
    for config in found.configs:
        assert set(config) == {"rest", "kind", "fixed", "svm" if config["kind"] == "svm" else "depth"}
    for n in (0, 5, 12, 30):
        fresh = course({"rest": "here"}, space=define)
        for then, now in resumed(found.facts, n, fresh.searcher, at_most=2):
            assert now == then


def test_points_for_a_space_that_is_defined_by_running_it():
    points = [{"x": 0.5}, {"x": 0.25}, {}]
    define = {
        "x": optuna.distributions.FloatDistribution(0, 1),
        "y": optuna.distributions.IntDistribution(0, 3),
    }
    points[0]["y"] = 1
    found = course({}, space=define, points_to_evaluate=points, evaluated_rewards=[7.0])
    assert found.ask().config["x"] == 0.25
    assert found.searcher.study.trials[0].value == 7.0


def test_its_own_space_is_searched_and_the_rest_added():
    assert set(course({"rest": 1}, space=SPACE).ask().config) == {"rest", "x"}


def test_a_storage_is_gone_on_with_and_a_resume_adds_nothing():
    storage = optuna.storages.InMemoryStorage()
    arguments = {"storage": storage, "study_name": "mine", "points_to_evaluate": [{"x": 0.5}]}
    found = course(**arguments)
    for i in range(3):
        found.end(found.ask(), "value", float(i))
    again = course(**arguments)
    assert all(now == then for then, now in resumed(found.facts, len(found.facts), again.searcher, at_most=1))
    assert [one.value for one in optuna.load_study(study_name="mine", storage=storage).trials] == [0, 1, 2]
    other = course(**arguments, seed=99)
    other.ask()
    assert len(other.searcher.study.trials) == 4


def test_a_constraint_of_the_space_is_kept(monkeypatch):
    monkeypatch.setattr(library, "_TRIES", 100)
    space = space_of({"x": tune.uniform(0, 1)}, constraint=lambda config: config["x"] < 0.3)
    found = course(space)
    assert all(found.ask().config["x"] < 0.3 for _ in range(5))
    never = course(space_of({"x": tune.uniform(0, 1)}, constraint=lambda config: False))
    with pytest.raises(SpaceError, match="allowed none of 100 "):
        never.ask()


@pytest.mark.parametrize("sampler", ["tpe", "cmaes"])
def test_results_that_pull_to_what_is_not_allowed(sampler):
    space = space_of({"x": tune.uniform(0, 1)}, constraint=lambda config: config["x"] < 0.3)

    def begun():
        return course(space, sampler=sampler)

    found = begun()
    for _ in range(16):
        trial = found.ask()
        found.end(trial, "value", trial.config["x"])
        told = found.searcher.study.trials[-1]
        assert (told.state.name, told.value, told.params["x"]) == (
            "COMPLETE",
            trial.config["x"],
            trial.config["x"],
        )
    for n in (30, 45):
        assert all(now == then for then, now in resumed(found.facts, n, begun().searcher, at_most=2))


def test_a_sampler_of_the_users():
    found = course(sampler=optuna.samplers.RandomSampler(seed=3))
    assert found.searcher.replay == "asked"
    assert found.ask().config != found.ask().config


def test_other_names_of_samplers_are_refused():
    with pytest.raises(ValueError, match="did you mean 'cmaes'"):
        OptunaSearch(sampler="cma-es")


def test_grids_are_refused():
    with pytest.raises(SpaceError, match=r"write choice\(\[1, 2\]\)"):
        course({"x": tune.grid_search([1, 2])})


def test_it_runs_behind_the_waist(tmp_path):
    found = tune.run(
        lambda config, t: {"loss": (config["x"] - 0.3) ** 2 + 1 / t} if t <= 3 else None,
        config=SPACE, num_samples=20, search_alg="optuna", metric="loss", mode="min", engine=Simulated(4),
        storage_path=str(tmp_path), verbose=0, seed=1, scheduler="asha",
    )  # fmt: skip
    assert len(found.trials) == 20
    assert abs(found.best_config["x"] - 0.3) < 0.1


def test_whole_numbers_beyond_those_of_floats():
    found = course({"n": tune.randint(-(2**70), 2**70), "one": tune.randint(2, 3)})
    for i in range(12):
        found.end(found.ask(), "value", float(i))
    assert all(abs(one["n"]) <= 2**70 and one["one"] == 2 for one in found.configs)
    again = course({"n": tune.randint(-(2**70), 2**70), "one": tune.randint(2, 3)})
    assert all(now == then for then, now in resumed(found.facts, 20, again.searcher, at_most=2))


@pytest.mark.parametrize("domain", [tune.randint(-5, 10**9), tune.quniform(0, 10**5, 0.001)])
def test_of_many_steps_a_million_are_parameters(domain):
    node = parse({"n": domain}).items["n"]
    found = course({"n": domain})
    for value in (found.ask().config["n"] for _ in range(20)):
        assert domain.contains(value)
        assert decoded({"n": node}, encoded({"n": node}, {"n": value})) == {"n": value}
    for value in (domain.quantile(0), domain.quantile(1), domain.quantile(0.3)):
        (near,) = decoded({"n": node}, encoded({"n": node}, {"n": value})).values()
        assert abs(domain.cdf(near) - domain.cdf(value)) < 2e-6
    (distribution,) = found.searcher.study.trials[0].distributions.values()
    assert (distribution.high - distribution.low) / distribution.step <= 1e6


def test_the_process_lists_no_billion_values():
    pytest.importorskip("scipy")
    pytest.importorskip("torch")
    found = course({"n": tune.lograndint(1, 10**9)}, sampler="gp")
    with pytest.raises(SpaceError, match="n: .* has 999,999,999 values, which Optuna's GPSampler would list"):
        found.ask()


def without(monkeypatch, *packages):
    monkeypatch.setattr(optuna_samplers, "_is_installed", lambda name: name not in packages)


@pytest.mark.parametrize(
    ("sampler", "package"), [("gp", "torch"), ("gp", "scipy"), ("cmaes", "cmaes"), ("auto", "optunahub")]
)
def test_a_missing_package_is_named_before_the_first_trial(monkeypatch, sampler, package):
    without(monkeypatch, package)
    with pytest.raises(
        MissingPackageError, match=rf'sampler=\'{sampler}\'\) needs {package}: pip install "overtone\[optuna'
    ):
        course(sampler=sampler)


@pytest.fixture
def hub(monkeypatch):
    """OptunaHub, which has what `load` returns."""
    module = ModuleType("optunahub")
    monkeypatch.setitem(sys.modules, "optunahub", module)
    without(monkeypatch)
    optuna_samplers._hub_sampler.cache_clear()
    yield module
    optuna_samplers._hub_sampler.cache_clear()


def test_the_sampler_of_optunahub_is_loaded_once_and_suggests(hub):
    loaded = []

    def load(name):
        loaded.append(name)
        return SimpleNamespace(AutoSampler=optuna.samplers.RandomSampler)

    hub.load_module = load
    found = course(sampler="auto")
    for _ in range(3):
        found.end(found.ask(), "value", 1.0)
    assert loaded == ["samplers/auto_sampler"]
    assert type(found.searcher.study.sampler) is optuna.samplers.RandomSampler


def test_what_cannot_be_downloaded_is_said_before_the_first_trial(hub):
    def load(name):
        raise OSError("Could not resolve host:\n github.com")

    hub.load_module = load
    with pytest.raises(
        OvertoneError, match=r"OSError: Could not resolve host: github.com\).*OPTUNAHUB_CACHE_HOME"
    ):
        course(sampler="auto")


@pytest.mark.parametrize("given", [optuna.samplers.TPESampler, 3])
def test_a_sampler_is_a_name_or_one_that_is_made(given):
    with pytest.raises(ValueError, match=r"sampler=.*give a name \(tpe, .*TPESampler\(\)"):
        OptunaSearch(sampler=given)


def test_a_study_of_another_goal_is_not_gone_on_with():
    storage = optuna.storages.InMemoryStorage()
    course(storage=storage, study_name="mine", mode="min")
    course(storage=storage, study_name="mine", mode="min")
    with pytest.raises(OvertoneError, match=r"'mine' .*\['minimize'\], and this search \['maximize'\]"):
        course(storage=storage, study_name="mine", mode="max")


@pytest.mark.parametrize("storage", [3, "nonsense://x", "study.db"])
def test_a_storage_that_cannot_be_opened_says_what_to_give(storage):
    with pytest.raises(OvertoneError, match=r"storage=.* cannot be opened .*sqlite:///study.db"):
        course(storage=storage)


def test_a_function_that_returns_no_dict_says_what_to_return():
    with pytest.raises(SpaceError, match="returned 3: return a dict of constants"):
        course({}, space=lambda trial: 3).ask()


def test_a_space_that_is_drawn_trial_by_trial_takes_no_constraint():
    define = OptunaSearch(lambda trial: {"x": trial.suggest_float("x", 0, 1)})
    assert not define.takes_constraint
    assert OptunaSearch().takes_constraint
    with pytest.raises(SpaceError, match="2 values for 1 points"):
        OptunaSearch(lambda trial: {}, points_to_evaluate=[{"x": 1}], evaluated_rewards=[1, 2])
