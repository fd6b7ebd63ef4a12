"""Hyperopt's own spaces, Optuna's distributions and bounds: written from a space of ours, and searched."""

import math
import random

import pytest

from overtone import tune
from overtone.errors import SpaceError
from overtone.searchers.library.ax import AxSearch
from overtone.searchers.library.bayesopt import BayesOptSearch
from overtone.searchers.library.hyperopt import HyperOptSearch
from overtone.searchers.library.hyperopt_space import from_hyperopt, to_hyperopt
from overtone.searchers.library.optuna import OptunaSearch

SPACE = {
    "x": tune.uniform(0, 5), "deep": {"lr": tune.loguniform(1e-4, 1e-1), "n": tune.randint(2, 9)},
    "act": tune.choice(["relu", "tanh"]), "list": [1, 2, 3], "num": 4, "q": tune.quniform(0, 10, 2),
}  # fmt: skip


@pytest.fixture(autouse=True)
def hp():
    """Hyperopt's expressions. Its import takes seconds, and every process collects this file."""
    return pytest.importorskip("hyperopt").hp


@pytest.mark.parametrize(
    ("expression", "domain"),
    [
        (lambda hp: hp.uniform("a", 0, 1), tune.uniform(0, 1)),
        (lambda hp: hp.quniform("a", 0, 10, 2), tune.quniform(0, 10, 2)),
        (lambda hp: hp.quniform("a", 1, 9, 4), tune.quniform(0, 8, 4)),
        (lambda hp: hp.loguniform("a", -3, 0), tune.loguniform(math.exp(-3), 1)),
        (lambda hp: hp.qloguniform("a", 0, math.log(64), 4), tune.qloguniform(4, 64, 4)),
        (lambda hp: hp.normal("a", 1, 2), tune.randn(1, 2)),
        (lambda hp: hp.qnormal("a", 1, 2, 0.5), tune.qrandn(1, 2, 0.5)),
        (lambda hp: hp.randint("a", 5), tune.randint(0, 5)),
        (lambda hp: hp.randint("a", 2, 5), tune.randint(2, 5)),
        (lambda hp: hp.uniformint("a", 1, 4), tune.randint(1, 5)),
        (lambda hp: hp.choice("a", [1, "two"]), tune.choice([1, "two"])),
    ],
)
def test_each_expression_has_a_domain(hp, expression, domain):
    assert from_hyperopt({"a": expression(hp), "b": 3})["a"] == domain


def test_branches_and_containers_are_kept(hp):
    space = {
        "kind": hp.choice("kind", [{"name": "a", "c": hp.uniform("c", 0, 1)}, {"name": "b", "d": (1, 2)}])
    }
    read = from_hyperopt(space)["kind"]
    assert read.categories == [{"name": "a", "c": tune.uniform(0, 1)}, {"name": "b", "d": [1, 2]}]
    assert from_hyperopt([hp.uniform("c", 0, 1), 2]) == [tune.uniform(0, 1), 2]
    assert from_hyperopt(SPACE) is SPACE


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (
            lambda hp: hp.lognormal("a", 0, 1),
            r"hp.lognormal\('a'\) has no counterpart here: there are uniform, ",
        ),
        (lambda hp: hp.pchoice("a", [(0.1, 1), (0.9, 2)]), r"hp.pchoice\('a'\): weights"),
        (lambda hp: hp.uniform("a", 0, 1) + 1, "the expression 'add' of Hyperopt"),
    ],
)
def test_what_has_no_domain_is_refused(hp, expression, error):
    with pytest.raises(SpaceError, match=error):
        HyperOptSearch({"a": expression(hp)})


def test_a_space_goes_there_and_back():
    import hyperopt

    read = from_hyperopt(to_hyperopt(SPACE))
    assert read.keys() == SPACE.keys()
    assert {name: read[name] for name in ("x", "act", "num", "q")} == {
        name: SPACE[name] for name in ("x", "act", "num", "q")
    }
    assert read["deep"]["n"] == SPACE["deep"]["n"]
    assert read["deep"]["lr"].lower == pytest.approx(1e-4)
    hyperopt.pyll.stochastic.sample(to_hyperopt(SPACE))  # Hyperopt can draw from it
    with pytest.raises(SpaceError, match="g: grid_search has no counterpart in Hyperopt"):
        to_hyperopt({"g": tune.grid_search([1])})


def search(searcher, tmp_path, **space):
    return tune.run(
        lambda config, t: {"loss": config["x"]} if t < 2 else None, config=space, search_alg=searcher, num_samples=6,
        metric="loss", mode="min", engine="simulated", verbose=0, seed=1, storage_path=str(tmp_path),
    )  # fmt: skip


@pytest.mark.parametrize("kind", [HyperOptSearch, OptunaSearch, BayesOptSearch, AxSearch])
def test_a_converted_space_is_searched(kind, tmp_path):
    space = {"x": tune.uniform(0, 5)} if kind is BayesOptSearch else dict(SPACE)
    converted = kind.convert_search_space(space)
    if kind is AxSearch:
        assert converted == space
        return
    found = search(kind(space=converted), tmp_path, added=1)
    configs = [trial.config for trial in found.trials]
    assert all(0 <= config["x"] <= 5 and config["added"] == 1 for config in configs)
    assert len({config["x"] for config in configs}) == 6


def test_a_hyperopt_space_is_searched_with_its_branches(hp, tmp_path):
    space = {"x": hp.uniform("x", 0, 1), "kind": hp.choice("k", [{"c": hp.uniform("c", 2, 3)}, "none"])}
    random.seed(1)
    kinds = [trial.config["kind"] for trial in search(HyperOptSearch(space), tmp_path).trials]
    assert any(one == "none" for one in kinds)
    assert all(one == "none" or 2 <= one["c"] <= 3 for one in kinds)


def test_optunas_distributions_and_bounds_have_the_names_of_paths():
    found = OptunaSearch.convert_search_space(
        {"a": {"b": tune.randint(1, 5), "c": tune.quniform(0, 1, 0.5)}, "k": 1}
    )
    assert {name: (one.low, one.high, one.step) for name, one in found.items()} == {
        "a/b": (1, 4, 1), "a/c": (0.0, 1.0, 0.5),
    }  # fmt: skip
    assert [*OptunaSearch.convert_search_space({"x": tune.choice([1, 2])}, "pre")] == ["pre/x"]
    assert BayesOptSearch.convert_search_space({"a": {"x": tune.uniform(0, 2)}, "k": 1}, join=True) == {
        "k": 1, "a/x": (0, 2),
    }  # fmt: skip
    for kind in (OptunaSearch, BayesOptSearch):
        with pytest.raises(SpaceError, match="g: "):
            kind.convert_search_space({"g": tune.grid_search([1, 2])})
