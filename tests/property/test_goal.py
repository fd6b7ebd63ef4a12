"""Scores: signs, NaN and what is missing, for any report."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.core.goal import OWN_FIELDS, Goal
from overtone.core.types import WORST
from overtone.errors import GoalError

modes = st.sampled_from(["max", "min"])
numbers = st.one_of(st.floats(), st.integers(-(10**9), 10**9))
values = st.one_of(numbers, st.none(), st.booleans(), st.text(max_size=3), st.lists(numbers, max_size=2))
names = st.sampled_from(["m", "loss", "mean_accuracy", "val/loss", "seconds", "f1", *sorted(OWN_FIELDS)[:6]])
reports = st.dictionaries(names, values, max_size=5)
quick = settings(deadline=None, max_examples=100)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@quick
@given(metrics=reports, mode=modes)
def test_any_report_becomes_a_result(metrics, mode):
    result = Goal("m", mode).result(metrics)
    assert result.is_ruled == is_number(metrics.get("m"))
    assert not math.isnan(result.score)
    assert result.metrics is metrics
    assert result.score == (result.scores[0] if result.is_ruled else WORST)


@quick
@given(one=numbers, other=numbers, mode=modes)
def test_scores_order_as_the_mode_says(one, other, mode):
    goal = Goal("m", mode)
    first, second = (goal.result({"m": value}).score for value in (one, other))
    if math.isnan(one) or math.isnan(other):
        assert (first if math.isnan(one) else second) == WORST
    else:
        assert (first > second) == (one > other if mode == "max" else one < other)
        assert goal.value(first) == one


@quick
@given(metrics=reports, mode=st.none() | modes, is_needed=st.booleans())
def test_what_is_inferred_was_reported_and_is_no_field_of_ours(metrics, mode, is_needed):
    goal = Goal(mode=mode, is_needed=is_needed)
    candidates = [name for name, value in metrics.items() if is_number(value) and name not in OWN_FIELDS]
    try:
        note = goal.infer(metrics)
    except GoalError as error:
        assert is_needed
        assert all(repr(name) in str(error) for name in candidates)
        return
    if note is None:
        assert not is_needed
        assert goal.metric is None
        return
    assert goal.metric in candidates
    assert goal.mode == (mode or goal.mode)
    assert goal.result(metrics).is_ruled
    assert goal.infer({"another": 1.0}) is None


@quick
@given(parts=st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.none() | modes), max_size=4))
def test_collected_goals_agree_or_fail(parts):
    sources = [(f"part {i}", metric, mode) for i, (metric, mode) in enumerate(parts)]
    metrics, given_modes = {metric for metric, _ in parts if metric}, {mode for _, mode in parts if mode}
    if len(metrics) > 1 or len(given_modes) > 1:
        with pytest.raises(GoalError, match="name it once"):
            Goal.collect(sources)
    elif metrics and not given_modes:
        with pytest.raises(GoalError, match="give mode="):
            Goal.collect(sources)
    else:
        goal = Goal.collect(sources)
        assert goal.metric == (metrics.pop() if metrics else None)
        if given_modes:
            assert goal.mode == given_modes.pop()


@quick
@given(reported=st.lists(names, max_size=5), metric=st.sampled_from(["accuracy", "m"]))
def test_what_is_missing_is_named_with_what_was_reported(reported, metric):
    message = Goal(metric, "max").missing(reported)
    assert repr(metric) in message
    for name in reported:
        assert (repr(name) in message) == (name not in OWN_FIELDS or name == metric)
