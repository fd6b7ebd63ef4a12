import pytest

from overtone.core.types import Result
from overtone.stoppers import Criteria


def result(**metrics):
    return Result(t=1, score=0.0, metrics=metrics)


def test_any_bound_is_enough_and_is_reached_at_equality():
    criteria = Criteria({"mean_accuracy": 0.99, "training_iteration": 100})
    assert criteria(None, result(mean_accuracy=0.98, training_iteration=99)) is None
    assert criteria(None, result(mean_accuracy=0.99, training_iteration=99)) == "mean_accuracy=0.99 >= 0.99"
    assert criteria(None, result(training_iteration=100)) == "training_iteration=100 >= 100"


def test_the_goal_metric_is_reached_from_above_where_less_is_better():
    criteria = Criteria({"loss": 0.1, "error": 5}, goal_metric="loss", goal_mode="min")
    assert criteria(None, result(loss=0.2, error=4)) is None
    assert criteria(None, result(loss=0.1)) == "loss=0.1 <= 0.1"
    assert criteria(None, result(error=5)) == "error=5 >= 5"
    assert Criteria({"loss": 0.1}, "loss", "max")(None, result(loss=0.2))


def test_the_goal_may_become_known_later():
    criteria = Criteria({"loss": 0.1})
    criteria.goal_metric, criteria.goal_mode = "loss", "min"
    assert criteria(None, result(loss=0.2)) is None


def test_nested_metrics():
    for criteria in (Criteria({"eval/acc": 0.5}), Criteria({"eval": {"acc": 0.5}})):
        assert criteria(None, result(eval={"acc": 0.4})) is None
        assert criteria(None, result(eval={"acc": 0.6}))
        assert criteria(None, result(**{"eval/acc": 0.6}))


def test_what_is_no_number_reaches_nothing():
    criteria = Criteria({"acc": 0.5})
    assert [criteria(None, result(acc=value)) for value in (float("nan"), "high", None, [1])] == [None] * 4


def test_done_is_a_bound_like_others():
    assert Criteria({"done": True})(None, result(done=True)) == "done=1 >= 1"


def test_only_a_bound_on_the_iterations_alone_is_known_ahead():
    assert Criteria({"training_iteration": 7}).next_decision(None) == 7
    assert Criteria({"training_iteration": 7, "acc": 1}).next_decision(None) == 0
    assert Criteria({"acc": 1}).next_decision(None) == 0
    assert Criteria({}).next_decision(None) == float("inf")


def test_all_metrics_with_a_bound_are_awaited():
    assert Criteria({"acuracy": 0.9, "loss": 9, "eval": {"x": 1}}).awaits == ("acuracy", "loss", "eval/x")


@pytest.mark.parametrize("bound", ["10", None, [1], float("nan")])
def test_bounds_are_numbers(bound):
    with pytest.raises(ValueError, match=r"acc.*: a bound must be a number"):
        Criteria({"acc": bound})


def test_a_whole_number_beyond_all_floats_reaches_every_bound():
    assert Criteria({"acc": 1.0})(None, result(acc=10**400)) == "acc=inf >= 1"
    assert Criteria({"acc": 1.0})(None, result(acc=-(10**400))) is None
