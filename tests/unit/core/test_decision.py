"""What schedulers may return."""

import pytest

from overtone.core.decision import CONTINUE, SAVE, Add, Continue, Pause, Restart, Save, Stop, as_decision
from overtone.core.types import Why


@pytest.mark.parametrize("decision", [CONTINUE, SAVE, Save(), Stop(Why("x")), Restart({}, None, Why("x"))])
def test_decisions_are_taken_as_they_are(decision):
    assert as_decision(decision, "mine") is decision


@pytest.mark.parametrize(
    ("flag", "decision"),
    [
        ("CONTINUE", CONTINUE),
        ("NOOP", CONTINUE),
        ("PAUSE", Pause(Why("mine"))),
        ("STOP", Stop(Why("mine"))),
    ],
)
def test_flags(flag, decision):
    assert as_decision(flag, "mine") == decision


@pytest.mark.parametrize("value", [None, True, "stop", Stop])
def test_anything_else_is_an_error_that_says_what_is_allowed(value):
    with pytest.raises(TypeError, match=r"mine.on_result returned .*: return Continue\(\), Save\(\)"):
        as_decision(value, "mine")


def test_a_reason_may_be_a_text():
    assert as_decision(Stop("too slow"), "mine") == Stop(Why("mine", note="too slow"))


@pytest.mark.parametrize(
    "value", [Continue([1]), Restart(None, None, Why("x")), Add("lr", None, Why("x")), Stop(3)]
)
def test_what_no_journal_can_hold_is_an_error(value):
    with pytest.raises(
        TypeError, match="mine.review returned .*: a config is a dict, and a reason a text or Why"
    ):
        as_decision(value, "mine", "review")
