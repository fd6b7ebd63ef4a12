"""Searchers of libraries, asked and told by hand: what they suggest, and what each argument changes.

BOHB's model is Overtone's own. Ax and Nevergrad are tried by `make searchers`, the others by `make conformance`.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from subject import IS_RAY, covers, part, tune

PACKAGES = {
    "ax": "ax",
    "bayesopt": "bayes_opt" if IS_RAY else "bayes_opt.acquisition",
    "bohb": "hpbandster" if IS_RAY else "numpy",
    "nevergrad": "nevergrad",
    "zoopt": "zoopt",
}
NAMES = {
    "ax": "AxSearch",
    "bayesopt": "BayesOptSearch",
    "bohb": "TuneBOHB",
    "nevergrad": "NevergradSearch",
    "zoopt": "ZOOptSearch",
}
GOAL = {"metric": "loss", "mode": "min"}


@pytest.fixture(autouse=True)
def seeded():
    """Libraries without a seed of their own draw from these."""
    random.seed(1)
    np.random.seed(1)


def kind(library):
    pytest.importorskip(PACKAGES[library])
    return getattr(part(f"tune.search.{library}"), NAMES[library])


def made(library, space=None, **arguments):
    """A searcher, with few random suggestions at its beginning."""
    cls, few = kind(library), {}
    if library == "bayesopt":
        few = {"random_search_steps": 4}
    elif library == "bohb":
        few = {"bohb_config": {"random_fraction": 0.0}}
    elif library == "nevergrad":
        few = {"optimizer": optimizers().CMA, "optimizer_kwargs": {"budget": 50}}
    elif library == "zoopt":
        few = {"budget": 40}
    if space is not None:
        few["dim_dict" if library == "zoopt" else "space"] = space
    return cls(**{**few, **arguments})


def optimizers():
    return pytest.importorskip("nevergrad").optimizers


def measured(config):
    """A valley at 2, and the same as a hill: from 0 to 10, the most is at 10."""
    loss = (config["x"] - 2) ** 2
    return {"loss": loss, "other": -loss}


def drawn(searcher, count, lag=1, measured=measured, budget=9):
    """The searcher's first configs; each trial ends when `lag` later ones have begun, or when the searcher waits for it."""
    configs, running, asked = [], [], 0

    def end_one():
        trial_id, config = running.pop(0)
        result = {
            **measured(config),
            "training_iteration": budget,
            "hyperband_info": {"budget": budget},
            "done": True,
        }
        searcher.on_trial_result(trial_id, result)
        searcher.on_trial_complete(trial_id, result)

    while len(configs) < count and asked < 20 * count:
        asked += 1
        config = searcher.suggest(f"trial {asked}")
        if config == tune.search.Searcher.FINISHED:
            break
        if config is not None:
            configs.append(config)
            running.append((f"trial {asked}", config))
        if running and (config is None or len(running) > lag):
            end_one()
    while running:
        end_one()
    return configs


def values(*arguments, **options):
    return [float(config["x"]) for config in drawn(*arguments, **options)]


LIBRARIES = pytest.mark.parametrize("library", PACKAGES)


@covers("tune.search.ax.AxSearch: space", "tune.search.bayesopt.BayesOptSearch: space", "tune.search.bohb.TuneBOHB: space",
        "tune.search.nevergrad.NevergradSearch: space", "tune.search.zoopt.ZOOptSearch: dim_dict")  # fmt: skip
@LIBRARIES
def test_a_space_of_its_own_is_searched(library):
    space = {"x": tune.uniform(5, 6)}
    if library != "bayesopt":
        space |= {"n": tune.randint(2, 5), "kind": tune.choice(["a", "b"])}
    configs = drawn(made(library, space, **GOAL), 6)
    assert len(configs) == 6
    assert all(5 <= config["x"] <= 6 for config in configs)
    assert len({config["x"] for config in configs}) > 1
    if library != "bayesopt":
        assert {config["n"] for config in configs} <= {2, 3, 4}
        assert {config["kind"] for config in configs} <= {"a", "b"}


@covers(*(f"tune.search.{library}.{name}: metric mode" for library, name in NAMES.items()))
@LIBRARIES
def test_the_space_and_the_goal_may_come_later(library):
    searcher = made(library)
    assert searcher.set_search_properties("loss", "min", {"x": tune.uniform(5, 6)})
    assert (searcher.metric, searcher.mode) == ("loss", "min")
    assert all(5 <= x <= 6 for x in values(searcher, 3))
    assert not made(library, {"x": tune.uniform(0, 1)}, **GOAL).set_search_properties(
        "loss", "min", {"y": tune.uniform(5, 6)}
    )


@covers(*(f"tune.search.{library}.{name}: points_to_evaluate" for library, name in NAMES.items()))
@LIBRARIES
def test_given_points_come_first(library):
    points = [{"x": 2.5}, {"x": 7.25}]
    searcher = made(library, {"x": tune.uniform(0, 10)}, points_to_evaluate=points, **GOAL)
    assert values(searcher, 3)[:2] == pytest.approx([2.5, 7.25])


@covers(*(f"tune.search.{library}.{name}: metric mode" for library, name in NAMES.items()))
@pytest.mark.parametrize("goal", [("loss", "min"), ("loss", "max"), ("other", "max")])
@LIBRARIES
def test_the_goal_says_where_to_look(library, goal):
    metric, mode = goal
    searcher = made(library, {"x": tune.uniform(0, 10)}, metric=metric, mode=mode)
    late = np.mean(values(searcher, {"ax": 12, "bayesopt": 12, "nevergrad": 50}.get(library, 30))[-5:])
    assert late > 6 if goal == ("loss", "max") else late < 4


@covers("tune.search.ax.AxSearch.convert_search_space: spec", "tune.search.bohb.TuneBOHB.convert_search_space: spec",
        "tune.search.nevergrad.NevergradSearch.convert_search_space: spec", "tune.search.zoopt.ZOOptSearch.convert_search_space: spec",
        "tune.search.bayesopt.BayesOptSearch.convert_search_space: spec")  # fmt: skip
@LIBRARIES
def test_a_converted_space_is_searched(library):
    space = {"x": tune.uniform(5, 6)}
    if library in ("ax", "bohb", "nevergrad"):
        space |= {"deep": {"rate": tune.loguniform(1e-4, 1e-2)}}
    configs = drawn(made(library, kind(library).convert_search_space(space), **GOAL), 4)
    assert all(5 <= config["x"] <= 6 for config in configs)
    if "deep" in space:
        assert all(1e-4 <= config["deep"]["rate"] <= 1.01e-2 for config in configs)


@covers(*(f"tune.search.{library}.{name}" for library, name in NAMES.items()))
@LIBRARIES
def test_a_library_without_grids_refuses_them(library):
    space = {"x": tune.grid_search([1, 2])}
    with pytest.raises(Exception):
        searcher = made(library, **GOAL)
        searcher.set_search_properties("loss", "min", space)
        searcher.suggest("one")


@covers("tune.search.Searcher.save: checkpoint_path", "tune.search.Searcher.restore: checkpoint_path")
@pytest.mark.parametrize("library", ["bayesopt", "bohb"])
def test_a_saved_searcher_goes_on(library, tmp_path):
    def new():
        return made(library, {"x": tune.uniform(0, 10)}, points_to_evaluate=[{"x": 1.0}, {"x": 2.0}], **GOAL)

    first, other = new(), new()
    assert first.suggest("one")["x"] == 1.0
    first.on_trial_complete("one", {"loss": 1.0, "training_iteration": 1})
    first.save(str(tmp_path / "state"))
    other.restore(str(tmp_path / "state"))
    assert other.suggest("two")["x"] == 2.0


# --- Ax


@covers("tune.search.ax.AxSearch: space")
def test_ax_takes_a_list_of_parameters():
    parameters = [
        {"name": "x", "type": "range", "bounds": [5.0, 6.0]},
        {"name": "deep/n", "type": "range", "bounds": [2, 4], "value_type": "int"},
        {"name": "rate", "type": "range", "bounds": [1e-4, 1e-2], "log_scale": True},
        {"name": "kind", "type": "choice", "values": ["a", "b"]},
        {"name": "same", "type": "fixed", "value": 7},
    ]
    for config in drawn(made("ax", parameters, **GOAL), 3):
        assert 5 <= config["x"] <= 6
        assert config["deep"]["n"] in (2, 3, 4)
        assert 1e-4 <= config["rate"] <= 1e-2
        assert config["kind"] in ("a", "b")
        assert config["same"] == 7


@covers("tune.search.ax.AxSearch: parameter_constraints")
@pytest.mark.parametrize("is_later", [False, True])
def test_ax_takes_linear_constraints(is_later):
    space = {"x": tune.uniform(0, 10), "y": tune.uniform(0, 10)}
    searcher = made("ax", None if is_later else space, parameter_constraints=["x + 2*y <= 6", "y <= x"], **({} if is_later else GOAL))  # fmt: skip
    if is_later:
        searcher.set_search_properties("loss", "min", space)
    configs = drawn(searcher, 7)
    assert len(configs) == 7
    for config in configs:
        assert config["x"] + 2 * config["y"] <= 6.001
        assert config["y"] <= config["x"] + 0.001


# --- bayesian-optimization


def bayesopt(**arguments):
    return kind("bayesopt")(
        **{"space": {"x": tune.uniform(0, 10)}, "random_search_steps": 3, **GOAL, **arguments}
    )


@covers("tune.search.bayesopt.BayesOptSearch.convert_search_space: spec join")
def test_bayesopt_converts_spaces_to_bounds():
    convert = kind("bayesopt").convert_search_space
    space = {"x": tune.uniform(0, 1), "deep": {"y": tune.uniform(2, 3)}, "constant": 4}
    assert convert(space) == {"x": (0, 1), "deep/y": (2, 3)}
    assert convert(space, join=True) == {"x": (0, 1), "deep/y": (2, 3), "constant": 4}


@covers("tune.search.bayesopt.BayesOptSearch: random_state")
def test_bayesopt_repeats_itself_by_its_seed():
    first = values(bayesopt(random_state=3), 6)
    assert values(bayesopt(random_state=3), 6) == pytest.approx(first)
    assert values(bayesopt(random_state=4), 6) != pytest.approx(first)


@covers("tune.search.bayesopt.BayesOptSearch: random_search_steps")
@pytest.mark.parametrize("steps", [2, 4])
def test_bayesopt_begins_at_random(steps):
    def other(config):
        return {"loss": (config["x"] - 8) ** 2}

    one, two = (
        values(bayesopt(random_state=3, random_search_steps=steps), 6, lag=0, measured=way)
        for way in (measured, other)
    )
    assert one[:steps] == two[:steps]
    assert one[steps] != two[steps]


@covers("tune.search.bayesopt.BayesOptSearch: utility_kwargs")
@pytest.mark.parametrize(("utility", "is_far"), [({"kind": "ucb", "kappa": 0.01, "xi": 0.0}, False), ({"kind": "ucb", "kappa": 1e3, "xi": 0.0}, True),
                                                 ({"kind": "poi", "kappa": 1.0, "xi": 0.0}, False), ({"kind": "poi", "kappa": 1.0, "xi": 10.0}, True),
                                                 ({"kind": "ei", "kappa": 1.0, "xi": 5.0}, True)])  # fmt: skip
def test_bayesopt_explores_as_it_is_told(utility, is_far):
    points = [{"x": 0.7 * i} for i in range(8)]  # the best is at 1.4, and nothing is known beyond 4.9
    searcher = bayesopt(
        utility_kwargs=utility, points_to_evaluate=points, random_search_steps=len(points), random_state=3
    )
    *_, last = values(searcher, 9, lag=0, measured=lambda config: {"loss": -np.sin(config["x"])})
    assert last > 8 if is_far else 1 < last < 2


@covers("tune.search.bayesopt.BayesOptSearch: analysis", "tune.search.bayesopt.BayesOptSearch.register_analysis: analysis")  # fmt: skip
@pytest.mark.parametrize("is_later", [False, True])
def test_bayesopt_learns_from_an_earlier_search(search, is_later):
    arguments = {"random_search_steps": 1, "points_to_evaluate": [{"x": 3.0}], "random_state": 3,
                 "utility_kwargs": {"kind": "ucb", "kappa": 0.01, "xi": 0.0}}  # fmt: skip

    def valley(config):
        return {"loss": (config["x"] - 7) ** 2}

    earlier = search(valley, config={"x": tune.grid_search([1.0, 6.0, 7.0, 8.0])}, metric="loss", mode="min")
    searcher = bayesopt(**arguments, analysis=None if is_later else earlier)
    if is_later:
        searcher.register_analysis(earlier)
    found = values(searcher, 4, lag=0, measured=valley)
    assert 6 < found[1] < 8


@covers("tune.search.bayesopt.BayesOptSearch: skip_duplicate repeat_float_precision")
@pytest.mark.parametrize(
    ("skips", "precision", "n_kept"), [(False, 5, 2), (True, 5, 2), (True, 2, 1), (False, 2, 2)]
)
def test_bayesopt_skips_what_it_suggested_before(skips, precision, n_kept):
    searcher = bayesopt(
        points_to_evaluate=[{"x": 3.0001}, {"x": 3.0002}],
        skip_duplicate=skips,
        repeat_float_precision=precision,
        random_state=3,
    )
    found = values(searcher, 4)
    assert sum(round(value, 3) == 3.0 for value in found) == n_kept
    assert len(found) == 4


@covers("tune.search.bayesopt.BayesOptSearch: patience")
@pytest.mark.parametrize(("patience", "skips", "counts"), [(1, False, {1}), (1, True, {1}), (2, True, {1, 2}), (9, True, {4})])
def test_bayesopt_ends_when_it_repeats_itself(patience, skips, counts):
    searcher = bayesopt(
        points_to_evaluate=[{"x": 3.0}] * 3, patience=patience, skip_duplicate=skips, random_state=3
    )
    assert len(values(searcher, 4)) in counts


@covers("tune.search.bayesopt.BayesOptSearch: verbose")
def test_bayesopt_is_quiet_whatever_it_is_told(capsys):
    loud, quiet = (values(bayesopt(verbose=verbose, random_state=3), 5) for verbose in (2, 0))
    assert loud == pytest.approx(quiet)
    assert capsys.readouterr().out == ""


# --- BOHB


@covers("tune.search.bohb.TuneBOHB: seed")
def test_bohb_repeats_itself_by_its_seed():
    def first(seed):
        return [
            made("bohb", {"x": tune.uniform(0, 10)}, seed=seed, **GOAL).suggest("one")["x"] for _ in range(2)
        ]

    assert len(set(first(3))) == 1
    assert first(3) != first(4)


@covers("tune.search.bohb.TuneBOHB: bohb_config")
def test_bohb_takes_settings_of_its_model():
    def spread(**settings):
        searcher = made("bohb", {"x": tune.uniform(0, 10)}, seed=3, bohb_config=settings, **GOAL)
        return np.std(values(searcher, 40)[20:])

    assert spread(random_fraction=1.0) > 2 * spread(random_fraction=0.0)
    with pytest.raises(Exception):
        spread(no_such_setting=1)


@covers("tune.search.bohb.TuneBOHB: max_concurrent", "tune.search.bohb.TuneBOHB.on_pause: trial_id", "tune.search.bohb.TuneBOHB.on_unpause: trial_id")  # fmt: skip
def test_bohb_counts_the_trials_that_run():
    searcher = made("bohb", {"x": tune.uniform(0, 10)}, max_concurrent=1, **GOAL)
    assert searcher.suggest("a")
    assert searcher.suggest("b") is None
    searcher.on_pause("a")
    assert searcher.suggest("b")
    searcher.on_unpause("a")
    searcher.on_trial_complete("b", {"loss": 1.0})
    assert searcher.suggest("c") is None
    searcher.on_trial_complete("a", {"loss": 1.0})
    assert searcher.suggest("c")


# --- Nevergrad


@covers("tune.search.nevergrad.NevergradSearch: optimizer")
def test_nevergrad_takes_an_optimizer():
    def first(optimizer):
        return values(made("nevergrad", {"x": tune.uniform(0, 10)}, optimizer=optimizer, **GOAL), 1)[0]

    assert first(optimizers().OnePlusOne) == 5
    assert first(optimizers().RandomSearch) != 5
    assert first(optimizers().ParametrizedOnePlusOne(noise_handling="random")) == 5


@covers("tune.search.nevergrad.NevergradSearch: optimizer_kwargs")
def test_nevergrad_takes_arguments_of_its_optimizer():
    def first(**options):
        searcher = made("nevergrad", {"x": tune.uniform(0, 10), "y": tune.uniform(0, 10)}, optimizer=optimizers().HammersleySearch,
                        optimizer_kwargs=options, **GOAL)  # fmt: skip
        return values(searcher, 1)

    assert first(budget=4) == first(budget=4) != first(budget=9)
    with pytest.raises(Exception):
        first(budget=4, no_such_argument=1)


# --- ZOOpt


def zoopt(**arguments):
    random.seed(1)
    np.random.seed(1)
    return made("zoopt", {"x": tune.uniform(0, 10)}, **GOAL, **arguments)


@covers("tune.search.zoopt.ZOOptSearch: algo")
def test_zoopt_has_one_algorithm():
    assert values(zoopt(algo="ASRacos"), 6) == values(zoopt(algo="sracos"), 6)
    with pytest.raises(Exception):
        zoopt(algo="other")


@covers("tune.search.zoopt.ZOOptSearch: budget")
def test_zoopt_begins_at_random_for_a_share_of_its_budget():
    few, many = values(zoopt(budget=20), 6), values(zoopt(budget=1000), 6)
    assert values(zoopt(budget=20), 6) == few
    assert few[:4] == many[:4]
    assert few[4:] != many[4:]


@covers("tune.search.zoopt.ZOOptSearch: parallel_num")
def test_zoopt_expects_as_many_trials_at_once_as_it_is_told():
    alone, many = (values(zoopt(parallel_num=n), 12, lag=3) for n in (1, 4))
    assert values(zoopt(parallel_num=4), 12, lag=3) == many != alone


@covers("tune.search.zoopt.ZOOptSearch.convert_search_space: spec join")
def test_zoopt_joins_constants_to_a_converted_space():
    space = {"x": tune.uniform(0, 10), "constant": 3}
    convert = kind("zoopt").convert_search_space
    assert set(convert(space)) == {"x"}
    assert set(convert(space, join=True)) == {"x", "constant"}


@covers("tune.search.zoopt.ZOOptSearch.optimizer")
def test_zoopt_shows_its_optimizer():
    searcher = zoopt()
    searcher.suggest("one")
    assert kind("zoopt").optimizer is None
    assert callable(searcher.optimizer.suggest)
