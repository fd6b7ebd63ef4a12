"""The facts that searchers around libraries keep."""

import sys
from math import inf, nan
from types import ModuleType

import pytest

from overtone import tune
from overtone.core.goal import Goal
from overtone.core.types import Result
from overtone.errors import GoalError, MissingPackageError, SpaceError
from overtone.searchers.library.ax import AxSearch
from overtone.searchers.library.bayesopt import BayesOptSearch
from overtone.searchers.library.bohb import TuneBOHB
from overtone.searchers.library.hyperopt import HyperOptSearch
from overtone.searchers.library.library import LibrarySearcher
from overtone.searchers.library.losses import scaled
from overtone.searchers.library.nevergrad import NevergradSearch
from overtone.searchers.library.optuna import OptunaSearch
from overtone.searchers.library.smac import SMACSearch
from overtone.space.constraint import space as space_of
from overtone.testing.search_course import Course

SPACE = {"x": tune.uniform(0, 1)}


class Middle(LibrarySearcher):
    """Suggests the middle of everything."""

    def propose(self, index, seed):
        return self.values(dict.fromkeys(self.nodes, 0.5))


def course(given=SPACE, mode="max", **arguments):
    searcher = Middle(**arguments)
    searcher.goal = Goal("score", mode)
    return Course(searcher, given)


def test_what_waits_and_what_ended():
    found = course()
    first, second, third = (found.ask() for _ in range(3))
    assert found.searcher.waiting == {i: {"x": 0.5} for i in range(3)}
    found.end(second, "value", 2.0)
    found.end(first, "raised", 0.0)
    found.end(third, "silent", 0.0)
    assert found.searcher.waiting == {}
    told = found.searcher.told
    assert [(one.index, one.flat, one.result and one.result.score) for one in told] == [
        (1, {"x": 0.5}, 2.0), (0, {"x": 0.5}, None),
    ]  # fmt: skip


def test_losses_are_finite_and_failures_the_worst():
    found = course()
    for how, value in (("value", 3.0), ("nan", 0.0), ("value", -1.0), ("inf", 0.0), ("raised", 0.0)):
        found.end(found.ask(), how, value)
    assert found.searcher.losses() == [-3.0, 1.0, 1.0, -3.0, 1.0]


def test_what_violates_a_constraint_counts_as_the_worst():
    found = course()
    found.end(found.ask(), "value", 1.0)
    trial = found.ask()
    found.searcher.on_result(trial, Result(1, 9.0, (9.0,), (0.5,)))
    found.end(trial, "silent", 0.0)
    assert found.searcher.losses() == [-1.0, -1.0]


def test_nothing_known_is_no_better_than_anything():
    found = course()
    found.end(found.ask(), "raised", 0.0)
    assert found.searcher.losses() == [0.0]


@pytest.mark.parametrize(("mode", "scores"), [("max", [2.0, -inf]), ("min", [-2.0, inf])])
def test_rewards_are_the_metrics_own_values(mode, scores):
    found = course(
        mode=mode, points_to_evaluate=[{"x": 0.25}, {"x": 0.75}, {"x": 0.0}], evaluated_rewards=[2, -inf]
    )
    assert [one.result.score for one in found.searcher.told] == scores
    assert found.ask().config == {"x": 0.0}


def test_a_reward_that_is_no_number_is_the_worst():
    found = course(mode="min", points_to_evaluate=[{"x": 0.25}, {"x": 0.75}], evaluated_rewards=[nan, 2])
    assert found.searcher.losses() == [2.0, 2.0]


def test_one_configuration_in_a_thousand_is_allowed():
    space = space_of({"x": tune.uniform(0, 1)}, constraint=lambda config: config["x"] < 0.001)
    found = course(space)
    assert all(found.ask().config["x"] < 0.001 for _ in range(10))


def test_rewards_need_a_mode():
    searcher = Middle(points_to_evaluate=[{"x": 0.25}], evaluated_rewards=[1.0])
    with pytest.raises(GoalError, match="needs mode"):
        Course(searcher, SPACE)


def test_a_space_of_its_own_is_searched_and_the_rest_added():
    found = course({"rest": 1, "y": tune.uniform(0, 1)}, space=SPACE)
    assert found.ask().config["x"] == 0.5
    assert set(found.configs[0]) == {"rest", "x", "y"}


@pytest.mark.parametrize("kind", [BayesOptSearch, AxSearch])
def test_flat_libraries_refuse_branches_and_name_those_that_do_not(kind):
    space = {"model": tune.choice([{"c": tune.uniform(0, 1)}, 3])}
    with pytest.raises(SpaceError, match=rf"model: {kind.__name__} cannot search .* OptunaSearch"):
        Course(kind(), space)


@pytest.mark.parametrize(
    ("kind", "module", "command"),
    [
        (OptunaSearch, "optuna", "overtone[optuna]"), (HyperOptSearch, "hyperopt.base", "overtone[hyperopt]"),
        (BayesOptSearch, "bayes_opt", "overtone[bayesopt]"), (AxSearch, "ax", "overtone[ax]"),
        (NevergradSearch, "nevergrad", "overtone[nevergrad]"), (SMACSearch, "smac", "overtone[smac]"),
    ],
)  # fmt: skip
def test_a_missing_library_is_named_with_the_command(monkeypatch, kind, module, command):
    monkeypatch.setitem(sys.modules, module, None)
    if kind in (AxSearch, SMACSearch):
        monkeypatch.setitem(sys.modules, {AxSearch: "ax.api.client", SMACSearch: "ConfigSpace"}[kind], None)
    with pytest.raises(MissingPackageError) as caught:
        Course(kind(), SPACE)
    assert command in str(caught.value)


def test_a_librarys_own_domain_is_no_constant():
    optuna = pytest.importorskip("optuna")
    with pytest.raises(SpaceError, match=r"x: .* written with overtone\.tune"):
        course({"x": optuna.distributions.FloatDistribution(0, 1)})


def test_bayesopt_takes_bounds(monkeypatch):
    for name in ("bayes_opt", "bayes_opt.acquisition"):  # not needed for the first suggestions
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    searcher = BayesOptSearch({"x": (10, 20), "kind": "a"}, random_state=1)
    config = Course(searcher, {}).ask().config
    assert config["kind"] == "a"
    assert 10 <= config["x"] <= 20


def test_the_newest_loss_is_the_worst_where_it_failed_and_none_while_nothing_else_is_known():
    found = course()
    found.end(found.ask(), "raised", 0.0)
    assert found.searcher.newest_loss() is None
    for value in (5.0, 3.0):
        found.end(found.ask(), "value", value)
    found.end(found.ask(), "raised", 0.0)
    assert found.searcher.newest_loss() == -3.0


def test_losses_are_scaled_from_the_best_to_the_worst():
    assert scaled([-1e12, 3.0, -1e12]) == [0.0, 1.0, 0.0]
    assert scaled([1e9, 1e9]) == [0.0, 0.0]
    assert scaled([-1e100, 1e100, 0.0]) == [0.0, 1.0, 0.5]


def test_losses_have_squares():
    found = course()
    for value in (1e308, -1e308):
        found.end(found.ask(), "value", value)
    assert found.searcher.losses() == [-1e100, 1e100]


def test_one_value_is_no_dimension():
    found = course({"x": tune.uniform(0, 1), "n": tune.randint(3, 4)})
    assert list(found.searcher.nodes) == ["x"]
    assert found.ask().config == {"x": 0.5, "n": 3}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: HyperOptSearch(n_initial_points="many"),
            "n_initial_points='many' must be a whole number, 0 or more",
        ),
        (lambda: BayesOptSearch(random_search_steps=-1), "random_search_steps=-1 must be"),
        (lambda: OptunaSearch(seed="a"), "OptunaSearch: seed='a' must be a whole number"),
        (lambda: HyperOptSearch(gamma=2), "gamma=2 must be between 0 and 1"),
        (
            lambda: BayesOptSearch(utility_kwargs={"kind": "best"}),
            "kind='best' must be one of 'ucb', 'ei', 'poi'",
        ),
        (
            lambda: Middle(points_to_evaluate=[{"x": 0.5}], evaluated_rewards=["good"]),
            "evaluated_rewards.0.='good' must",
        ),
        (
            lambda: Middle(points_to_evaluate=[{"x": 0.5}], evaluated_rewards=3),
            "evaluated_rewards=3 must be a list of numbers",
        ),
    ],
)
def test_arguments_that_cannot_be_used(make, says):
    with pytest.raises(ValueError, match=says):
        Course(make(), SPACE)


def test_an_empty_space():
    pytest.importorskip("hyperopt")
    assert Course(HyperOptSearch(), {}).ask().config == {}


def test_the_constraint_of_what_is_given_beside_its_own_space_is_kept():
    rest = space_of({"least": 0.5}, constraint=lambda config: config["x"] > config["least"])
    found = Course(TuneBOHB(space=SPACE), rest)
    for _ in range(20):
        found.end(found.ask(), "value", 1.0)
    assert all(config["x"] > 0.5 for config in found.configs)


@pytest.mark.parametrize(("is_slow", "n"), [(False, 20), (True, 3)])
def test_a_slow_one_proposes_less_often_what_the_constraint_forbids(is_slow, n):
    proposed = []

    class Stubborn(Middle):
        def propose(self, index, seed):
            proposed.append(seed)
            return super().propose(index, seed)

    searcher = Stubborn()
    searcher.is_slow = is_slow
    config = Course(searcher, space_of(SPACE, constraint=lambda config: config["x"] != 0.5)).ask().config
    assert (len(proposed), config["x"] != 0.5) == (n, True)
