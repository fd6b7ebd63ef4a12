"""JournalFiles of Optuna: a log of operations, as several processes wrote it."""

from __future__ import annotations

import json

import pytest

from overtone.errors import OvertoneError, StorageError

X = '{"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": false, "step": null}}'
LOG = '{"name": "FloatDistribution", "attributes": {"low": 0.1, "high": 1.0, "log": true, "step": null}}'
C = '{"name": "CategoricalDistribution", "attributes": {"choices": ["a", "b"]}}'
TIME = "2026-01-02T03:04:%09.6f+00:00"


def op(code, **fields):
    return json.dumps({"op_code": code, "worker_id": "w", **fields}) + "\n"


def param(trial, name, value, distribution):
    return op(5, trial_id=trial, param_name=name, param_value_internal=value, distribution=distribution)


def ended(trial, state, values, second=9.0):
    return op(6, trial_id=trial, state=state, values=values, datetime_complete=TIME % second)


BEGIN = op(0, study_name="s", directions=[2]) + op(4, study_id=0, datetime_start=TIME % 1)


@pytest.fixture
def taken(tmp_path, take, trials_of):
    def taken(text, name="it", **choices):
        path = tmp_path / "optuna.log"
        path.write_text(text, newline="")
        return trials_of(take(path, name, **choices))

    return taken


def test_a_trial_of_operations(taken):
    (trial,) = taken(
        BEGIN + param(0, "x", 0.5, X) + param(0, "c", 1, C)
        + op(7, trial_id=0, step=0, intermediate_value=0.25)
        + op(7, trial_id=0, step=1, intermediate_value=float("nan"))
        + op(8, trial_id=0, user_attr={"k": [1]})
        + ended(0, 1, [0.75])
    )  # fmt: skip
    assert trial.config == {"x": 0.5, "c": "b"}
    assert trial.status == "TERMINATED"
    assert [one["value"] for one in trial.results()][::2] == [0.25, 0.75]
    assert trial.last_result["user_attrs"] == {"k": [1]}
    assert trial.last_result["time_total_s"] == pytest.approx(8.0)


def test_a_trial_that_was_added_whole(taken):
    (trial,) = taken(
        op(0, study_name="s", directions=[1])
        + op(
            4, study_id=0, datetime_start=TIME % 1, datetime_complete=TIME % 2, state=2, value=0.5, values=None,
            distributions={"x": X}, params={"x": 0.25}, user_attrs={}, system_attrs={},
            intermediate_values={"10": 0.75, "2": 1.0},
        )
    )  # fmt: skip
    assert [(one.get("step"), one["value"]) for one in trial.results()] == [(2, 1.0), (10, 0.75), (None, 0.5)]
    assert trial.config == {"x": 0.25}
    assert trial.why.note == "pruned"


@pytest.mark.parametrize("tail", ['{"op_code":6,"trial', "{}garbage", '{"op_code":6,"trial\n'])
def test_a_torn_tail(taken, tail):
    (trial,) = taken(BEGIN + param(0, "x", 0.5, X) + tail)
    assert trial.status == "RUNNING"
    assert trial.config == {"x": 0.5}


def test_operations_that_optuna_ignores(taken):
    first, second = taken(
        BEGIN + param(0, "x", 0.5, X) + ended(0, 1, [1.0])
        + param(0, "x", 0.75, X) + ended(0, 3, None) + op(8, trial_id=0, user_attr={"late": 1})  # It has ended.
        + op(0, study_name="s", directions=[1])  # The name is taken.
        + op(4, study_id=7, datetime_start=TIME % 2)  # No such study.
        + op(4, study_id=0, datetime_start=TIME % 3)
        + param(1, "x", 0.3, LOG)  # It contradicts the distribution of x.
        + param(9, "x", 0.3, X) + op(99, something=1)
        + param(1, "c", 0, C) + ended(1, 1, [2.0])
    )  # fmt: skip
    assert (first.config, first.last_result["value"]) == ({"x": 0.5}, 1.0)
    assert "user_attrs" not in first.last_result
    assert (second.config, second.last_result["value"]) == ({"c": "a"}, 2.0)


def test_waiting_trials_run_later_and_times_without_a_zone_are_local(taken):
    enqueued = {"state": 4, "datetime_start": None, "system_attrs": {"fixed_params": {"x": 0.5}}}
    first, second = taken(
        op(0, study_name="s", directions=[1]) + op(4, study_id=0, **enqueued) + op(4, study_id=0, **enqueued)
        + op(6, trial_id=0, state=0, values=None, datetime_start="2026-01-02T03:04:05")
        + param(0, "x", 0.5, X)
        + op(6, trial_id=0, state=1, values=[0.5], datetime_complete="2026-01-02T03:04:07")
    )  # fmt: skip
    assert (first.status, second.status) == ("TERMINATED", "PENDING")
    assert first.last_result["time_total_s"] == pytest.approx(2.0)
    assert second.config == {"x": 0.5}


def test_several_studies_and_a_deleted_one(taken):
    text = BEGIN + op(0, study_name="t", directions=[1]) + op(4, study_id=1, datetime_start=TIME % 1)
    with pytest.raises(OvertoneError, match="choose one with --study, of 's', 't'"):
        taken(text)
    assert len(taken(text + op(1, study_id=0), "b")) == 1
    with pytest.raises(OvertoneError, match="holds no study"):
        taken(text + op(1, study_id=0) + op(1, study_id=1), "c")


@pytest.mark.parametrize(
    "line", ["garbage\n", '{"op_code": 6}\n', "[]\n", op(6, trial_id=0, state=77, values=None)]
)
def test_a_damaged_line_is_named(taken, line):
    with pytest.raises(StorageError, match="line 3"):
        taken(BEGIN + line + param(0, "x", 0.5, X))
