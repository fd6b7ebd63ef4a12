"""What is told of trials whose processes are gone."""

from __future__ import annotations

import socket

import pytest

from overtone.engines.local.exits import account_of, never_ran
from overtone.engines.local.process import TrialProcess

BROKEN = ("no module named nothing", "Traceback ...")


@pytest.fixture
def process():
    with socket.socket() as sock:
        made = TrialProcess(1, sock, [])
        made.was_waiting, made.has_spoken = False, True
        yield made


def test_a_process_that_somebody_took_lost_its_trial(process) -> None:
    assert account_of(process, "was killed by SIGKILL", True, None) == (
        "lost", "was killed by SIGKILL; out of memory?", "", False,
    )  # fmt: skip
    assert account_of(process, "exited with code 3", False, None) == (
        "killed",
        "exited with code 3",
        "",
        False,
    )


def test_what_the_driver_did_comes_first(process) -> None:
    process.is_noticed = True
    assert account_of(process, "x", False, None)[:2] == ("lost", "ended after a SIGTERM: x")
    process.is_terminated, process.grace_s = True, 30.0
    assert account_of(process, "x", False, None)[:2] == ("killed", "did not halt within 30 s: x")
    process.excess = ("limit", "2 s of CPU")
    assert account_of(process, "x", True, BROKEN) == ("limit", "2 s of CPU", "", False)


def test_a_process_that_died_while_it_waited_never_ran_its_trial(process) -> None:
    assert not never_ran(process, None)
    process.was_waiting, process.has_spoken = True, False
    assert never_ran(process, None)
    assert account_of(process, "x", False, None)[0] == "halted"
    assert not never_ran(process, BROKEN)
    assert account_of(process, "x", False, BROKEN) == ("raised", *BROKEN, True)
