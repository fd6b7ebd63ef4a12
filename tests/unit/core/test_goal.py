"""Metric, mode, signs, missing keys and NaN."""

import math

import pytest

from overtone.core.goal import Goal, is_finite, lookup, real
from overtone.core.types import WORST
from overtone.errors import GoalError

INF, NAN = math.inf, math.nan


def score(goal, value, **more):
    return goal.result({"m": value, "training_iteration": 3, **more}).score


@pytest.mark.parametrize(
    ("mode", "value", "expected"),
    [
        ("max", 2.0, 2.0), ("min", 2.0, -2.0), ("max", NAN, WORST), ("min", NAN, WORST),
        ("max", INF, INF), ("min", INF, WORST), ("min", -INF, INF), ("max", 3, 3.0),
    ],
)  # fmt: skip
def test_a_higher_score_is_better_and_nan_is_the_worst(mode, value, expected):
    goal = Goal("m", mode)
    assert score(goal, value) == expected
    if value == value:
        assert goal.value(score(goal, value)) == value


@pytest.mark.parametrize("value", [None, "0.9", True, [1.0]])
def test_what_is_no_number_is_not_ruled_on(value):
    result = Goal("m", "max").result({"m": value, "training_iteration": 3})
    assert (result.score, result.scores, result.is_ruled) == (WORST, (), False)
    assert Goal("m", "max").result({"training_iteration": 3}).is_ruled is False


def test_results_keep_what_was_reported():
    metrics = {"m": 1.0, "other": "x", "training_iteration": 3}
    result = Goal("m", "max").result(metrics)
    assert dict(result) == metrics
    assert (result.t, result.is_ruled) == (3, True)


def test_the_clock_is_time_attr_and_else_the_iterations():
    goal = Goal("m", "max", time_attr="epochs")
    assert goal.result({"m": 1.0, "training_iteration": 3, "epochs": 0.5}).t == 0.5
    assert goal.result({"m": 1.0, "training_iteration": 3}).t == 3
    assert goal.result({"training_iteration": 3, "epochs": 7}).t == 7


def test_several_objectives():
    goal = Goal(["a", "b"], ["max", "min"])
    result = goal.result({"a": 1.0, "b": 2.0})
    assert (result.score, result.scores) == (1.0, (1.0, -2.0))
    assert not goal.result({"a": 1.0}).is_ruled
    assert Goal(["a", "b"], "min").modes == ("min", "min")
    assert goal.result({"a": 1.0, "b": NAN}).scores == (1.0, WORST)


def test_constraints():
    goal = Goal("a", "max", constraints=["size"])
    assert goal.result({"a": 1.0, "size": 3}).violations == (3.0,)
    assert goal.result({"a": 1.0}).violations == (0.0,)


def test_nested_metrics():
    metrics = {"eval": {"acc": 0.5}, "a/b": 1.0}
    assert lookup(metrics, "eval/acc") == 0.5
    assert lookup(metrics, "a/b") == 1.0
    assert lookup(metrics, "eval/acc/x") is None
    assert lookup(metrics, "missing") is None
    assert Goal("eval/acc", "max").result(metrics).score == 0.5


# --- what the user names ---------------------------------------------------------------


def test_a_mode_that_is_none():
    with pytest.raises(GoalError, match=r"mode='maximum': choose \"max\" or \"min\""):
        Goal("m", "maximum")


def test_as_many_modes_as_metrics():
    with pytest.raises(GoalError, match=r"3 metrics \('a', 'b', 'c'\) but 2 modes"):
        Goal(["a", "b", "c"], ["max", "min"])


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("mean_accuracy", "max"), ("episode_reward_mean", "max"), ("val_loss", "min"), ("score_loss", "min"),
        ("perplexity", "min"), ("f1", "max"), ("AUC", "max"), ("error_rate", "min"), ("whatever", "max"),
        ("neg_mean_loss", "max"), ("neg_log_loss", "max"), ("negative_score", "min"), ("Neg Error", "max"),
        ("negotiation_loss", "min"),
    ],
)  # fmt: skip
def test_the_mode_of_a_well_known_metric(name, mode):
    assert Goal(name).mode == mode


def test_collecting():
    goal = Goal.collect([("the call", None, None), ("the scheduler", "acc", "max"), ("it", "acc", None)])
    assert (goal.metric, goal.mode) == ("acc", "max")
    apart = Goal.collect([("the call", "m", None), ("the scheduler", None, "min")])
    assert (apart.metric, apart.mode) == ("m", "min")
    assert Goal.collect([("the call", None, None)]).metric is None


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (
            [("the call", "a", "max"), ("the scheduler", "b", "max")],
            "metric='a' in the call but metric='b' in the scheduler",
        ),
        (
            [("the call", "a", "max"), ("the searcher", None, "min")],
            "mode='max' in the call but mode='min' in the searcher",
        ),
    ],
)
def test_two_that_disagree(sources, message):
    with pytest.raises(GoalError, match=message):
        Goal.collect(sources)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("size", "metric='size' in the call has no mode, .* 'size' should .* give mode=\"max\" or \"min\"$"),
        (["loss", "size"], '\'size\' should grow or fall: give mode=\\["min", "max" or "min"\\]$'),
        (["latency", "acc"], '\'latency\' should grow or fall: give mode=\\["max" or "min", "max"\\]$'),
    ],
)
def test_a_metric_whose_direction_nobody_knows(metric, message):
    with pytest.raises(GoalError, match=message):
        Goal.collect([("the call", metric, None), ("the scheduler", None, None)])
    assert Goal.collect([("the call", metric, None), ("the scheduler", None, "min")]).mode == "min"


def test_metrics_whose_directions_are_known_need_no_mode():
    assert Goal.collect([("the call", ["loss", "accuracy"], None)]).modes == ("min", "max")


# --- what is inferred ------------------------------------------------------------------

OWN = {"training_iteration": 1, "time_total_s": 2.0, "pid": 3, "done": False}


@pytest.mark.parametrize(
    ("metrics", "given", "metric", "mode"),
    [
        ({"loss": 1.0}, None, "loss", "min"),
        ({"mean_accuracy": 1.0}, None, "mean_accuracy", "max"),
        ({"acc": 1.0, "seconds": 3}, None, "acc", "max"),
        ({"mystery": 1.0}, "min", "mystery", "min"),
        ({"loss": 1.0}, "max", "loss", "max"),
        ({"auc": 0.5, "text": "x", "flag": True}, None, "auc", "max"),
    ],
)
def test_inferred(metrics, given, metric, mode):
    goal = Goal(mode=given, is_needed=True)
    assert goal.mode == given
    note = goal.infer({**metrics, **OWN})
    assert note == f'metric and mode were not named: taking metric={metric!r}, mode="{mode}"'
    assert (goal.metric, goal.mode) == (metric, mode)
    assert goal.infer({"other": 1.0}) is None
    assert goal.result({metric: 2.0}).score == (2.0 if mode == "max" else -2.0)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"a": 1, "b": 2}, "which metric to optimise: the trial reported 'a', 'b'; say it with metric='a'"),
        ({"loss": 1, "acc": 2}, "which metric to optimise"),
        ({"mystery": 1}, "whether 'mystery' should grow or fall"),
        ({}, r"the trial reported no number; say it with metric='...'"),
        ({"text": "x"}, "reported no number"),
    ],
)
def test_ambiguous(metrics, message):
    with pytest.raises(GoalError, match=message):
        Goal(is_needed=True).infer({**metrics, **OWN})
    assert Goal().infer({**metrics, **OWN}) is None


def test_a_named_goal_is_not_inferred():
    goal = Goal("m", "min")
    assert goal.infer({"acc": 1.0}) is None
    assert goal.metric == "m"


def test_who_is_bound_by_it():
    assert Goal("m").is_binding
    assert Goal(is_needed=True).is_binding
    goal = Goal()
    goal.infer({"loss": 1.0})
    assert not goal.is_binding


def test_missing_without_a_near_name():
    assert Goal("m", "max").missing(["zebra", "pid"]) == (
        "the trial ended without reporting a number as 'm': it reported 'zebra'"
    )
    assert Goal("m", "max").missing(["pid"]).endswith("it reported nothing")


def test_missing_where_it_was_no_number():
    text = Goal("loss", "min").missing({"loss": "low", "training_iteration": 1})
    assert text == "the trial ended without reporting a number as 'loss': it was 'low'"


def test_doubts_about_the_first_result():
    assert Goal("acc", "max").doubts({"acc": 1.0, **OWN}) == []
    assert Goal("accuracy", "max").doubts({"acuracy": 1.0, **OWN}) == [
        "the first result has no 'accuracy', which is waited for; it has 'acuracy'; "
        "'accuracy' and 'acuracy' are similar: use the same name in both places"
    ]
    clock = Goal("acc", "max", time_attr="epoch", is_needed=True)
    with pytest.raises(GoalError, match="time_attr='epoch' is not in the first result, which has 'epochs'"):
        clock.doubts({"epochs": 1.0, **OWN})


def test_before_it_is_known_nothing_is_ruled_on():
    goal = Goal()
    assert goal.result({"m": 1.0, "training_iteration": 2}).is_ruled is False
    assert goal.metric is None
    assert goal.mode is None
    assert goal.value(3.0) == 3.0


def test_constraints_have_bounds_and_nan_breaks_them():
    goal = Goal("loss", "min", constraints={"latency": 50, "a/b": 1})
    report = {"loss": 1.0, "latency": 60, "a": {"b": 0.5}}
    assert goal.result(report).violations == (10.0, -0.5)
    assert goal.result({"loss": 1.0, "latency": math.nan, "a": {"b": "?"}}).violations == (math.inf, math.inf)
    assert goal.result({"loss": 1.0}).violations == (0.0, 0.0)
    assert Goal("loss", constraints=["size"]).result({"loss": 1, "size": 2}).violations == (2.0,)
    allowed = {"loss": 1.0, "latency": 50, "a": {"b": 1}}
    assert goal.allows(allowed)
    assert not goal.allows({**allowed, "latency": 51})
    assert Goal("loss").allows({})
    with pytest.raises(GoalError, match="number that 'latency' may be at most"):
        Goal("loss", constraints={"latency": "fast"})


def test_a_constraint_metric_that_no_report_has_is_named_with_the_nearest():
    goal = Goal("loss", "min", constraints={"size": 4, "a/b": 1})
    assert goal.missing_constraint({"loss": 1}, {"size": 1, "a": {"b": 2}}) == ""
    text = goal.missing_constraint({"loss": 1, "sice": 1}, {"a": {"b": 2}})
    assert "'size': it reported 'loss', 'sice'; 'size' and 'sice' are similar" in text


def test_constraints_are_names():
    with pytest.raises(GoalError, match=r"constraints=\[3\]: 3 is not the name"):
        Goal("loss", constraints=[3])


def test_a_whole_number_beyond_all_floats_is_infinite():
    assert [is_finite(one) for one in (1, 0.5, 10**400, -(10**400), math.inf, math.nan)] == [True] * 2 + [
        False
    ] * 4
    assert (real(10**400), real(-(10**400)), real(2)) == (math.inf, -math.inf, 2.0)
    assert not Goal("loss", "min", constraints={"size": 4}).allows({"loss": 1, "size": 10**400})


def test_values_have_their_signs_and_nan_back():
    goal = Goal(["loss", "val/accuracy"], ["min", "max"])
    for loss, accuracy in ((2.0, 0.5), (math.inf, -math.inf), (math.nan, 0.5), (0.25, math.nan)):
        found = goal.values(goal.result({"loss": loss, "val": {"accuracy": accuracy}}))
        assert repr(found) == repr([loss, accuracy])
