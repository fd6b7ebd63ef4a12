from __future__ import annotations

import pytest

from overtone.analysis.aim import check_reported, chosen
from overtone.errors import GoalError
from overtone.reading.recorded_goal import first, recorded_goal


@pytest.mark.parametrize(
    ("metric", "mode", "default", "expected"),
    [
        ("loss", "max", (None, None), ("loss", "max")),
        (None, None, ("score", "min"), ("score", "min")),
        (None, "max", ("score", "min"), ("score", "max")),
        ("score", None, ("score", "min"), ("score", "min")),
        ("x", None, (None, "min"), ("x", "min")),
        ("score", None, ("loss", "max"), ("score", "max")),  # the mode of the run is also that of others
        ("x", None, ("loss", "min"), ("x", "min")),
        ("loss", None, ("loss", "max"), ("loss", "max")),  # the user said so
        ("val_loss", None, ("accuracy", None), ("val_loss", "min")),
        ("mean_accuracy", None, (None, None), ("mean_accuracy", "max")),
        (None, None, (None, None), ("loss", "min")),
        (None, "max", (None, None), ("loss", "max")),
    ],
)
def test_what_is_ranked_by(metric, mode, default, expected):
    assert chosen(metric, mode, default, [{"loss": 1, "time_total_s": 2, "pid": 3}]) == expected


def test_a_mode_that_cannot_be_known_is_asked_for():
    with pytest.raises(GoalError, match=r"whether 'x' should grow or fall.*mode=\"max\""):
        chosen("x", None, ("loss", None), [])


def test_a_name_that_tells_another_direction_than_the_run_is_a_warning():
    with pytest.warns(UserWarning, match="'val_loss' is ranked by the mode of the run.*pass mode=\"min\""):
        assert chosen("val_loss", None, ("accuracy", "max"), []) == ("val_loss", "max")


def test_a_metric_that_cannot_be_known_is_asked_for():
    with pytest.raises(GoalError, match="'a', 'b'"):
        chosen(None, None, (None, None), [{"a": 1}, {"b": 2}])


def test_a_wrong_mode_shows_what_is_allowed():
    with pytest.raises(GoalError, match=r"mode='low'.*\"min\""):
        chosen("loss", "low", (None, None), [])


def test_a_typo_lists_the_metrics_and_names_the_nearest():
    with pytest.raises(GoalError) as caught:
        check_reported(
            "acuracy",
            [{"accuracy": 1, "eval": {"loss": 2}, "time_total_s": 3, "note": "x", "config": {"lr": 1}}],
        )
    assert str(caught.value) == (
        "no trial reported metric 'acuracy'; there are 'accuracy', 'eval/loss', 'time_total_s'; "
        "did you mean 'accuracy'?"
    )


def test_a_metric_that_is_no_number_is_said_to_be_none():
    with pytest.raises(GoalError, match="'note' was reported, but never as a number; there are 'loss'"):
        check_reported("note", [{"note": "x", "loss": 1}])


def test_long_lists_are_cut():
    with pytest.raises(GoalError, match="'m19' and 5 more"):
        check_reported("loss", [{f"m{index:02d}": 1 for index in range(25)}])


def test_one_result_with_the_metric_is_enough_and_none_at_all_is_no_typo():
    check_reported("loss", [{"other": 1}, {"loss": 1}])
    check_reported("loss", [])


def test_of_several_objectives_the_first_ranks():
    assert first(["loss", "size"]) == "loss"
    assert first("loss") == "loss"
    assert first([]) is first(None) is None


def test_the_goal_of_a_header():
    assert recorded_goal({"parts": {"metric": ["loss"], "mode": ["min"]}}) == ("loss", "min")
    assert recorded_goal({"parts": {"metric": [], "mode": []}}) == (None, None)
    assert recorded_goal({}) == (None, None)
