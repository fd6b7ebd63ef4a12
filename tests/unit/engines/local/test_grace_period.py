from __future__ import annotations

import pytest

from overtone.engines.local.grace_period import LAST_GRACE_S, Patience
from overtone.engines.local.process import LocalAttempt, TrialProcess
from overtone.engines.loop import Loop
from overtone.testing.fake_channel import start
from overtone.worker.server.requests import KILL, TERMINATE


class Timers(Loop):
    """A loop whose time is set."""

    def __init__(self) -> None:
        super().__init__()
        self.close()
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def run_until(self, time: float) -> None:
        while self._timers and self._timers[0][0] <= time:
            at, _, call = self._timers.pop(0)
            self.time = at
            call()
        self.time = time


class Ladder:
    def __init__(self, grace_s: float) -> None:
        self.loop = Timers()
        self.sent: list[tuple[float, int, bytes]] = []
        self.patience = Patience(self.loop, grace_s, self._note)

    def _note(self, attempt: LocalAttempt, what: bytes) -> None:
        self.sent += [(self.loop.time, process.number, what) for process in attempt.processes]


def attempt(*numbers: int) -> LocalAttempt:
    processes = [TrialProcess(number, None, []) for number in numbers]  # type: ignore[arg-type]
    made = LocalAttempt(start(), processes[0])
    made.processes += processes[1:]
    return made


@pytest.mark.parametrize(("grace_s", "last_s"), [(0.5, 0.5), (10.0, LAST_GRACE_S)])
def test_sigterm_then_sigkill_then_nothing(grace_s: float, last_s: float) -> None:
    ladder = Ladder(grace_s)
    ladder.patience.start(attempt(1))
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(grace_s, 1, TERMINATE), (grace_s + last_s, 1, KILL)]


def test_all_processes_of_an_attempt_get_the_same_at_the_same_time() -> None:
    ladder = Ladder(0.5)
    ladder.patience.start(attempt(1, 2))
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(0.5, 1, TERMINATE), (0.5, 2, TERMINATE), (1.0, 1, KILL), (1.0, 2, KILL)]


def test_one_that_is_to_end_soon_gets_less() -> None:
    ladder = Ladder(10.0)
    hurried = attempt(1)
    ladder.patience.start(hurried, 0.5)
    assert hurried.grace_s == 0.5
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(0.5, 1, TERMINATE), (0.5 + LAST_GRACE_S, 1, KILL)]


def test_an_attempt_that_is_over_is_killed_at_once() -> None:
    ladder = Ladder(1.0)
    ended = attempt(1)
    ended.ended = ("returned", "", "", False)
    ladder.patience.start(ended)
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(1.0, 1, KILL)]


def test_one_that_somebody_else_sent_a_sigterm_is_killed_when_its_grace_is_over() -> None:
    ladder = Ladder(1.0)
    noticed = attempt(1)
    ladder.patience.start(noticed)
    noticed.is_noticed = True
    ladder.loop.run_until(0.5)
    ladder.patience.stop(noticed)  # a Proceed takes nothing back,
    ladder.patience.start(noticed)  # and a Halt gives no more time
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(1.0, 1, KILL)]
    ended = attempt(2)
    ladder.patience.start(ended)
    ended.is_noticed = True
    ladder.patience.forget(ended)
    ladder.loop.run_until(200.0)
    assert len(ladder.sent) == 1


def test_each_attempt_has_its_own_time_and_one_that_was_let_off_none() -> None:
    ladder = Ladder(1.0)
    first, second, third = attempt(1), attempt(2), attempt(3)
    ladder.patience.start(first)
    ladder.loop.run_until(0.5)
    ladder.patience.start(second)
    ladder.patience.start(third)
    ladder.patience.stop(first)
    ladder.patience.stop(first)
    ladder.loop.run_until(0.9)
    ladder.patience.start(third)
    ladder.loop.run_until(2.0)
    assert ladder.sent == [(1.5, 2, TERMINATE), (1.9, 3, TERMINATE)]


def test_many_attempts_share_a_timer() -> None:
    ladder = Ladder(1.0)
    for number in range(1000):
        one = attempt(number)
        ladder.patience.start(one)
        ladder.patience.stop(one)
    assert len(ladder.loop._timers) == 1
