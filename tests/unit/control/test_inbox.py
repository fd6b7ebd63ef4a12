"""Each request gets one answer, after its record, from a controller that sees requests one by one."""

import pytest

from overtone.control.answers import ControlError, answer_in
from overtone.control.requests import requested
from overtone.testing.scripted_driver import ScriptedController, ScriptedDriver

TRIALS = "358bb_00000", "358bb_00001"


@pytest.fixture
def driver():
    return ScriptedDriver(ScriptedController(*TRIALS, objections={"stop_trial": "it has ended"}))


def put(driver, what, request="", **fields):
    """Hand in a request; returns the list that gets its answers."""
    answers = []
    driver.inbox.put(requested({"what": what, "request": request, **fields}), answers.append)
    return answers


def test_an_answer_comes_after_the_record_and_has_its_number(driver):
    answers = put(driver, "pause_trial", trial_id=TRIALS[1])
    driver.before_write = lambda: answers.append("written")
    driver.step()
    first, document = answers
    assert first == "written"
    assert (answer_in(document).n, answer_in(document).trial_id) == (2, TRIALS[1])
    assert driver.records[0].event.time == 0.0


def test_a_trial_is_named_by_the_end_of_its_id_or_its_index(driver):
    for wanted in ("00001", "1", TRIALS[1]):
        put(driver, "pause_trial", trial_id=wanted)
    driver.step()
    assert [record.event.trial_id for record in driver.records] == [TRIALS[1]] * 3


def test_an_unknown_trial_is_refused_with_those_there_are(driver):
    answers = put(driver, "pause_trial", trial_id="358bb_00009")
    driver.step()
    with pytest.raises(ControlError, match=r"no trial '358bb_00009': it has 358bb_00000, .*did you mean"):
        answer_in(answers[0])
    assert driver.records == []


def test_two_requests_with_one_id_are_one_record_with_one_answer(driver):
    both = put(driver, "add", "same", config={"lr": 1}), put(driver, "add", "same", config={"lr": 1})
    driver.step()
    later = put(driver, "add", "same", config={"lr": 1})
    driver.step()
    assert len(driver.records) == 1
    assert both[0] == both[1] == later
    assert answer_in(later[0]).trial_id == "358bb_00002"


def test_an_objection_is_the_answer_and_leaves_no_record(driver):
    answers = put(driver, "stop_trial", trial_id="0")
    driver.step()
    with pytest.raises(ControlError, match="it has ended"):
        answer_in(answers[0])
    assert driver.records == driver.controller.handled == []


def test_an_inbox_with_requests_cannot_be_shut(driver):
    answers = put(driver, "note", note="a thought")
    assert not driver.inbox.shut()
    driver.step()
    assert answer_in(answers[0]).n == 2
    assert driver.inbox.shut()
    with pytest.raises(ControlError, match="end") as refused:
        answer_in(put(driver, "note", note="too late")[0])
    assert refused.value.kind == "over"


def test_closing_answers_what_waits_for_the_loop_or_for_the_journal(driver):
    def fail():
        raise OSError("the disk is full")

    driver.before_write = fail
    waiting = put(driver, "note", note="a")
    with pytest.raises(OSError, match="full"):
        driver.step()
    asked = put(driver, "note", note="b")
    driver.inbox.close()
    for answers in (waiting, asked):
        with pytest.raises(ControlError) as refused:
            answer_in(answers[0])
        assert refused.value.kind == "over"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"what": "puase_trial"}, "did you mean 'pause_trial'"),
        ({"what": "pause_trial"}, "must name a trial"),
        ({"what": "note", "note": " "}, "must be a text"),
        ({"what": "set_limits"}, "at least one of"),
        ({"what": "set_limits", "limits": {"max_concurent": 4}}, "did you mean 'max_concurrent'"),
        ({"what": "set_limits", "limits": {"max_concurrent": 0}}, "at least 1"),
        ({"what": "set_limits", "limits": {"num_samples": None}}, "or -1 for no limit"),
        ({"what": "set_limits", "limits": {"time_budget_s": float("nan")}}, "seconds"),
        ({"what": "set_priority", "trial_id": "0"}, "must have a priority"),
        ({"what": "set_priority", "trial_id": "0", "priority": "high"}, "must be a number"),
        ({"what": "set_priority", "trial_id": "0", "priority": 10**400}, "must be a number"),
        ({"what": "set_limits", "limits": {"num_samples": 0}}, "at least 1"),
        ({"what": "set_limits", "limits": {"time_budget_s": 10**400}}, "seconds"),
        ({"what": "add", "config": [1]}, "must be a dict"),
        ({"what": "add", "resources": {"cpu": 10**400}}, "is not an amount"),
        ({"what": "add", "resources": 5}, "resources must look like"),
        ({"what": "add", "resources": {"cpu": -1}}, "0 or more"),
        ({"what": "note", "note": "x" * 100_000}, "up to"),
        ({"what": "stop", "who": 7}, "must be a text"),
    ],
)
def test_wrong_fields_are_refused_with_what_is_allowed(fields, message):
    with pytest.raises(ControlError, match=message) as refused:
        requested(fields)
    assert refused.value.kind == "wrong"
