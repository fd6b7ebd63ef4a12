"""Searchers whose suggestions take their time, through the conformance suite; those that are installed."""

import pytest

from overtone.testing.searcher_conformance import SearcherConformance


class Slow(SearcherConformance):
    needs = ""
    n = 12
    kills = 4
    arguments = {}

    @pytest.fixture(autouse=True)
    def installed(self):
        for name in self.needs.split():
            pytest.importorskip(name)


class OptunaConformance(Slow):
    needs = "optuna"

    def make_searcher(self, **arguments):
        from overtone.searchers.optuna import OptunaSearch

        return OptunaSearch(**self.arguments, **arguments)


class TestOptunaGP(OptunaConformance):
    needs = "optuna torch scipy"
    arguments = {"sampler": "gp"}
    n_learning = 15


class TestOptunaCmaEs(OptunaConformance):
    needs = "optuna cmaes"
    arguments = {"sampler": "cmaes"}
    n_learning = 60


class TestOptunaNSGA2(OptunaConformance):
    arguments = {"sampler": "nsga2"}
    objectives = 2
    is_learning = takes_rewards = False


class TestOptunaNSGA3(OptunaConformance):
    arguments = {"sampler": "nsga3"}
    objectives = 2
    is_learning = takes_rewards = False


class TestOptunaTwoObjectives(OptunaConformance):
    objectives = 2
    is_learning = takes_rewards = False


class TestHyperOpt(Slow):
    needs = "hyperopt"
    n_learning = 40

    def make_searcher(self, **arguments):
        from overtone.searchers.hyperopt import HyperOptSearch

        return HyperOptSearch(n_initial_points=6, **arguments)


class TestBayesOpt(Slow):
    needs = "bayes_opt.acquisition"
    is_conditional = False
    n = 6
    kills = 2
    n_learning = 12

    def make_searcher(self, **arguments):
        from overtone.searchers.bayesopt import BayesOptSearch

        return BayesOptSearch(random_search_steps=3, **arguments)


class TestNevergrad(Slow):
    needs = "nevergrad"
    n_learning = 60

    def make_searcher(self, **arguments):
        from overtone.searchers.nevergrad import NevergradSearch

        return NevergradSearch(**arguments)


@pytest.mark.filterwarnings("ignore")  # of Ax, GPyTorch and linear_operator about themselves
class TestAx(Slow):
    needs = "ax torch"
    is_conditional = False
    n = 7
    kills = 2
    n_learning = 12

    def make_searcher(self, **arguments):
        from overtone.searchers.ax import AxSearch

        return AxSearch(n_initial_points=3, **arguments)


@pytest.mark.filterwarnings("ignore")  # of SMAC about its own empty means
class TestSMAC(Slow):
    needs = "smac"
    n = 6
    kills = 2
    n_learning = 12

    def make_searcher(self, **arguments):
        from overtone.searchers.smac import SMACSearch

        return SMACSearch(n_initial_points=3, **arguments)
