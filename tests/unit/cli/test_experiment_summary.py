from __future__ import annotations

import json

import pytest

from overtone.core.limits import Limits
from overtone.core.messages import Interrupted, Resumed, Ruled
from overtone.core.types import Why
from overtone.reading.experiment_summary import ExperimentSummary


def summary(journal):
    fold = ExperimentSummary()
    fold.read(journal)
    return fold.summary()


def test_a_finished_search(search):
    found = summary(search / "journal.jsonl")
    assert found["statuses"] == {"TERMINATED": 3, "ERROR": 1}
    assert found["best"] == {"trial_id": "358bb_00000", "value": 0.2}
    assert (found["metric"], found["mode"]) == ("loss", "min")
    assert (found["results"], found["runs"]) == (6, 1)
    assert found["is_finished"]
    assert found["started"] == 1_790_000_000.0


def test_it_goes_on_where_it_stopped_with_the_same_outcome(tell):
    told = tell()
    first = told.add({"x": 1})
    told.start(first)
    told.report(first, loss=3.0)
    told.write()
    fold = ExperimentSummary()
    fold.read(told.journal)
    told.report(first, loss=2.0)
    told.report(first, accuracy=1.0)  # without the metric: the value before it stays
    second = told.run({"x": 2}, 1.0)
    told.close()
    again = ExperimentSummary(json.loads(json.dumps(fold.data)))
    again.read(told.journal)
    assert again.summary() == summary(told.journal)
    assert again.summary()["best"] == {"trial_id": second, "value": 1.0}
    assert again.data["trials"][first] == ["RUNNING", 2.0]


def test_the_newest_value_counts_whatever_its_report_led_to(tell):
    told = tell()
    trials = [told.add({"x": i}) for i in range(3)]
    for trial in trials:
        told.start(trial)
    for step, trial in enumerate(trials * 3):
        choices = [Ruled(trial, step, "stop", Why("x"))] if step % 2 else []
        told.time += 1.0
        told.report(trial, *choices, loss=float(step))
    told.end(trials[0])
    told.close()
    fold = ExperimentSummary()
    fold.read(told.journal)
    assert {name: value for name, (_, value) in fold.data["trials"].items()} == dict(
        zip(trials, [6.0, 7.0, 8.0], strict=True)
    )
    assert fold.data["time"] == 9.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, True, "much", None])
def test_what_is_no_finite_number_is_never_best(tell, value):
    told = tell(metric=["score"], mode=["max"])
    trial = told.add({})
    told.start(trial)
    told.report(trial, score=value)
    told.end(trial)
    told.close()
    assert summary(told.journal)["best"] is None


def test_a_metric_may_be_nested_or_spelled_with_escapes(tell):
    nested = tell("nested", metric=["valid/größe"], mode=["max"])
    trial = nested.add({})
    nested.start(trial)
    nested.report(trial, valid={"größe": 4.0})
    nested.end(trial)
    nested.close()
    assert summary(nested.journal)["best"]["value"] == 4.0


def test_the_goal_is_taken_from_the_first_result_where_nobody_named_one(tell):
    told = tell(metric=[], mode=[])
    told.run({}, 2.0, 1.0)
    told.close()
    found = summary(told.journal)
    assert (found["metric"], found["mode"], found["best"]["value"]) == ("loss", "min", 1.0)


def test_results_that_were_done_again_are_not_counted(tell):
    told = tell()
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=1.0)
    told.report(trial, Ruled(trial, 1, "redone"), loss=9.0)
    told.close()
    found = summary(told.journal)
    assert (found["results"], found["best"]["value"]) == (1, 1.0)


def test_interrupted_resumed_and_finished(tell):
    told = tell(limits={"total": 3})
    told.run({}, 1.0)
    told.tell(Interrupted(told.time))
    told.write()
    assert (summary(told.journal)["is_interrupted"], summary(told.journal)["planned"]) == (True, 3)
    told.writer.note("driver", {"wall": 5.0, "parts": {"name": "train"}})
    told.tell(Resumed(told.time, Limits(total=7)))
    told.write()
    found = summary(told.journal)
    assert (found["is_interrupted"], found["is_finished"], found["planned"], found["runs"]) == (
        False,
        False,
        7,
        2,
    )
    told.close(finished=True)
    assert summary(told.journal)["is_finished"]
