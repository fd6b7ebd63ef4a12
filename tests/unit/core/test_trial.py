"""The states of a trial, as a table."""

import pytest

from overtone.core.resources import Resources
from overtone.core.retention import Retention
from overtone.core.roster import Roster
from overtone.core.trial import TRANSITIONS, Status, Trial

ALLOWED = {
    "PENDING": "STARTING TERMINATED ERROR",
    "STARTING": "RUNNING HALTING PENDING TERMINATED ERROR",
    "RUNNING": "HALTING PENDING TERMINATED ERROR",
    "HALTING": "PAUSED PARKED RUNNING PENDING TERMINATED ERROR",
    "PAUSED": "STARTING PENDING TERMINATED ERROR",
    "PARKED": "RUNNING HALTING PAUSED PENDING TERMINATED ERROR",
    "TERMINATED": "PENDING",
    "ERROR": "PENDING",
}


def test_the_table():
    found = {status.value: {one.value for one in after} for status, after in TRANSITIONS.items()}
    assert found == {status: set(after.split()) for status, after in ALLOWED.items()}
    assert set(TRANSITIONS) == set(Status)


@pytest.mark.parametrize("before", Status)
@pytest.mark.parametrize("after", Status)
def test_moves_follow_the_table(before, after):
    roster = Roster("abcde", Retention())
    trial = Trial("a", 0, {}, Resources.of({"cpu": 1}), before)
    if after.value in ALLOWED[before.value].split():
        roster.move(trial, after)
        assert trial.status is after
    else:
        with pytest.raises(AssertionError, match=f"trial a cannot go from {before.value} to {after.value}"):
            roster.move(trial, after)
        assert trial.status is before
        assert roster.choices == []


def test_what_users_see():
    shown = {status: status.shown for status in Status}
    assert shown[Status.STARTING] == shown[Status.HALTING] == shown[Status.RUNNING] == "RUNNING"
    assert shown[Status.PARKED] == shown[Status.PAUSED] == "PAUSED"
    assert {shown[status] for status in Status} == {"PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR"}


def test_which_are_final_and_which_hold_resources():
    assert {status for status in Status if status.is_final} == {Status.TERMINATED, Status.ERROR}
    assert {status for status in Status if status.is_placed} == {
        Status.STARTING, Status.RUNNING, Status.HALTING
    }  # fmt: skip


def test_a_trial_is_itself_only():
    demand = Resources.of({"cpu": 1})
    one, other = Trial("a", 0, {}, demand), Trial("a", 0, {}, demand)
    assert one != other
    assert len({one, other}) == 2
    assert one.trial_id == "a"
