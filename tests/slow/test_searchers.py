"""Searchers whose suggestions take their time, through the conformance suite; those that are installed.

Ax, SMAC and Nevergrad are tried by `make searchers`, in an environment of their own.
"""

from pathlib import Path

import pytest

from overtone import tune
from overtone.errors import SpaceError
from overtone.space import choice, grid_search, randint, uniform
from overtone.testing.searcher_conformance import SearcherConformance

pytestmark = pytest.mark.timeout(300)


class Slow(SearcherConformance):
    needs = ""
    n = 18
    n_first = 10
    kills = 4
    is_tried_elsewhere = True
    arguments = {}

    @pytest.fixture(autouse=True)
    def installed(self):
        for name in self.needs.split():
            pytest.importorskip(name)


class OptunaConformance(Slow):
    needs = "optuna"

    def make_searcher(self, **arguments):
        from overtone.searchers.library.optuna import OptunaSearch

        return OptunaSearch(**self.arguments, **arguments)


class TestOptunaTPE(OptunaConformance):
    n = 24
    kills = 12


class TestOptunaRandom(OptunaConformance):
    arguments = {"sampler": "random"}
    n_first = 0
    is_learning = False


@pytest.mark.full
class TestOptunaGP(OptunaConformance):
    needs = "optuna torch scipy"
    arguments = {"sampler": "gp"}
    n = 16
    parallel = 3
    kills = 2
    n_learning = 15


@pytest.mark.filterwarnings("ignore")  # of the sampler, which uses what Optuna deprecated
class TestOptunaAuto(TestOptunaGP):
    """OptunaHub's sampler, where OptunaHub's cache has it: no test downloads anything."""

    needs = "optuna optunahub cmaes torch scipy"
    arguments = {"sampler": "auto"}

    @pytest.fixture(autouse=True)
    def cached(self, installed):
        from optunahub._conf import cache_home

        folder = Path(cache_home(), "github.com/optuna/optunahub-registry/main/package/samplers/auto_sampler")
        if not folder.exists():
            pytest.skip(f"{folder} is not there")


class TestOptunaCmaEs(OptunaConformance):
    needs = "optuna cmaes"
    arguments = {"sampler": "cmaes"}
    n_first = 1
    n_learning = 60


class Generations(OptunaConformance):
    """The first 50 trials are random, and the others children of them."""

    n = 60
    n_first = 50
    objectives = 2
    is_learning = takes_rewards = False


class TestOptunaNSGA2(Generations):
    arguments = {"sampler": "nsga2"}


@pytest.mark.full
class TestOptunaNSGA3(Generations):
    arguments = {"sampler": "nsga3"}


@pytest.mark.full
class TestOptunaTwoObjectives(OptunaConformance):
    objectives = 2
    is_learning = takes_rewards = False


class TestHyperOpt(Slow):
    needs = "hyperopt"
    n = 12
    n_first = 3
    n_learning = 40

    def make_searcher(self, **arguments):
        from overtone.searchers.library.hyperopt import HyperOptSearch

        return HyperOptSearch(n_initial_points=3, **arguments)


class TestBayesOpt(Slow):
    needs = "bayes_opt.acquisition"
    is_conditional = False
    n = 6
    n_first = 2
    parallel = 3
    kills = 2
    n_learning = 12

    def make_searcher(self, **arguments):
        from overtone.searchers.library.bayesopt import BayesOptSearch

        return BayesOptSearch(random_search_steps=2, **arguments)

    def test_points_that_are_alike_are_told_as_one(self, capsys):
        course = self._course({"n": randint(0, 2)})
        for _ in range(4):
            course.end(course.ask(), "value", 1.0)
        assert capsys.readouterr().out == ""  # it prints a line for each that it knows already


class TestNevergrad(Slow):
    needs = "nevergrad"
    n = 50
    n_first = 30  # a population of TwoPointsDE
    n_learning = 90

    def make_searcher(self, **arguments):
        from overtone.searchers.library.nevergrad import NevergradSearch

        return NevergradSearch(**arguments)


class TestNevergradCMA(TestNevergrad):
    n = 18
    n_first = 8
    n_learning = 60

    def make_searcher(self, **arguments):
        from overtone.searchers.library.nevergrad import NevergradSearch

        return NevergradSearch("CMA", **arguments)


@pytest.mark.filterwarnings("ignore")  # of Ax, GPyTorch and linear_operator about themselves
class TestAx(Slow):
    needs = "ax torch"
    is_conditional = False
    n = 5
    n_first = parallel = 2
    kills = 2
    n_learning = 9

    def make_searcher(self, **arguments):
        from overtone.searchers.library.ax import AxSearch

        return AxSearch(n_initial_points=2, **arguments)


@pytest.mark.filterwarnings("ignore")  # of SMAC about its own empty means
class TestSMAC(Slow):
    needs = "smac"
    n = 5
    n_first = parallel = 2
    kills = 2
    n_learning = 12

    def make_searcher(self, **arguments):
        from overtone.searchers.library.smac import SMACSearch

        return SMACSearch(n_initial_points=2, **arguments)


class TestSkOpt(SearcherConformance):
    is_conditional = False
    n_first, kills = 4, 3

    def make_searcher(self, **arguments):
        pytest.importorskip("skopt")
        from overtone.searchers.library.skopt import SkOptSearch

        return SkOptSearch(n_initial_points=4, **arguments)


class TestZOOpt(SearcherConformance):
    is_conditional = False
    kills = 3

    def make_searcher(self, **arguments):
        pytest.importorskip("zoopt")
        from overtone.searchers.library.zoopt import ZOOptSearch

        return ZOOptSearch(parallel_num=4, budget=30, **arguments)


@pytest.mark.filterwarnings("ignore")  # FLAML warns of what else of it is not installed
@pytest.mark.parametrize("name", ["BlendSearch", "CFO"])
def test_flaml(name, tmp_path):
    pytest.importorskip("flaml")
    from overtone.searchers.library import flaml

    def curve(config, t):
        return (
            {"loss": (config["x"] - 0.3) ** 2 + config["more"]["n"], "time_total_s": 1.0 * t}
            if t < 3
            else None
        )

    space = {
        "x": uniform(0, 1),
        "more": {"n": randint(0, 3)},
        "act": choice(["a", "b"]),
        "k": 2,
    }
    found = tune.run(
        curve, config=space, num_samples=30, metric="loss", mode="min", search_alg=getattr(flaml, name)(),
        engine="simulated", verbose=0, seed=1, storage_path=str(tmp_path),
    )  # fmt: skip
    assert len(found.trials) == 30
    assert found.best_result["loss"] < 0.5
    assert all(trial.config["k"] == 2 for trial in found.trials)
    for part in (grid_search([1]), choice([1, {"b": uniform(0, 1)}])):
        with pytest.raises(SpaceError, match="g has no counterpart in FLAML"):
            flaml.to_flaml({"g": part})
