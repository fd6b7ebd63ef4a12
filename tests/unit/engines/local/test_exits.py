"""What is told of attempts of which a process is gone."""

from __future__ import annotations

import socket

import pytest

from overtone.engines.local.exits import account_of
from overtone.engines.local.process import NEVER_RAN, LocalAttempt, TrialProcess
from overtone.testing.fake_channel import start

BROKEN = ("no module named nothing", "Traceback ...")


@pytest.fixture
def process():
    with socket.socket() as sock:
        made = TrialProcess(1, sock, [])
        made.was_waiting = False
        made.attempt = LocalAttempt(start(), made)
        made.attempt.has_spoken = True
        yield made


def account(process, text="x", was_taken=False, broken=None):
    return account_of(process, process.attempt, text, was_taken, broken)


def test_a_process_that_somebody_took_lost_its_trial(process) -> None:
    assert account(process, "was killed by SIGKILL", True) == (
        "lost", "was killed by SIGKILL; out of memory?", "", False,
    )  # fmt: skip
    assert account(process, "exited with code 3") == ("killed", "exited with code 3", "", False)


def test_what_the_driver_did_comes_first(process) -> None:
    process.attempt.is_noticed = True
    assert account(process)[:2] == ("lost", "ended after a SIGTERM: x")
    process.is_terminated, process.attempt.grace_s = True, 30.0
    assert account(process)[:2] == ("killed", "did not halt within 30 s: x")
    process.attempt.excess = ("limit", "2 s of CPU")
    assert account(process, "x", True, BROKEN) == ("limit", "2 s of CPU", "", False)


def test_a_process_that_died_while_it_waited_never_ran_its_trial(process) -> None:
    process.was_waiting, process.attempt.has_spoken = True, False
    assert account(process) is NEVER_RAN
    assert account(process, broken=BROKEN) == ("raised", *BROKEN, True)
    process.attempt.excess = ("limit", "2 s of CPU")
    assert account(process)[0] == "limit"
