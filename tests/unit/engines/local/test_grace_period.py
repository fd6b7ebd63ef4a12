from __future__ import annotations

import pytest

from overtone.engines.local.grace_period import LAST_GRACE_S, Patience
from overtone.engines.local.process import TrialProcess
from overtone.engines.loop import Loop
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

    def _note(self, process: TrialProcess, what: bytes) -> None:
        self.sent.append((self.loop.time, process.number, what))


def process(number: int) -> TrialProcess:
    return TrialProcess(number, None, [])  # type: ignore[arg-type]


@pytest.mark.parametrize(("grace_s", "last_s"), [(0.5, 0.5), (10.0, LAST_GRACE_S)])
def test_sigterm_then_sigkill_then_nothing(grace_s: float, last_s: float) -> None:
    ladder = Ladder(grace_s)
    ladder.patience.start(process(1))
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(grace_s, 1, TERMINATE), (grace_s + last_s, 1, KILL)]


def test_one_that_is_to_end_soon_gets_less() -> None:
    ladder = Ladder(10.0)
    hurried = process(1)
    ladder.patience.start(hurried, 0.5)
    assert hurried.grace_s == 0.5
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(0.5, 1, TERMINATE), (0.5 + LAST_GRACE_S, 1, KILL)]


def test_a_process_whose_trial_has_ended_is_killed_at_once() -> None:
    ladder = Ladder(1.0)
    ended = process(1)
    ended.ended = ("ended",)
    ladder.patience.start(ended)
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(1.0, 1, KILL)]


def test_one_that_somebody_else_sent_a_sigterm_is_killed_when_its_grace_is_over() -> None:
    ladder = Ladder(1.0)
    noticed = process(1)
    ladder.patience.start(noticed)
    noticed.is_noticed = True
    ladder.loop.run_until(0.5)
    ladder.patience.stop(noticed)  # a Proceed takes nothing back,
    ladder.patience.start(noticed)  # and a Halt gives no more time
    ladder.loop.run_until(100.0)
    assert ladder.sent == [(1.0, 1, KILL)]
    ended = process(2)
    ladder.patience.start(ended)
    ended.is_noticed = True
    ladder.patience.forget(ended)
    ladder.loop.run_until(200.0)
    assert len(ladder.sent) == 1


def test_each_process_has_its_own_time_and_one_that_was_let_off_none() -> None:
    ladder = Ladder(1.0)
    first, second, third = process(1), process(2), process(3)
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


def test_many_processes_share_a_timer() -> None:
    ladder = Ladder(1.0)
    for number in range(1000):
        one = process(number)
        ladder.patience.start(one)
        ladder.patience.stop(one)
    assert len(ladder.loop._timers) == 1
