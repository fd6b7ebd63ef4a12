"""Processes are made for a head, and for all of its ranks or none."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.core.resources import Resources
from overtone.engines.local.gangs import most_processes_of
from overtone.engines.local.process import LocalAttempt, Shape, TrialProcess
from overtone.engines.local.process_pool import ProcessPool
from overtone.engines.local.room import Room
from overtone.engines.local.waiting_processes import WaitingProcesses
from overtone.testing.fake_channel import start

SHAPE: Shape = ((), 1)
GPU: Shape = ((("CUDA_VISIBLE_DEVICES", "0"),), 1)


class Pool(ProcessPool):
    """A pool whose processes are made at once; `fails_after` makes the others fail."""

    def __init__(self, most: int) -> None:
        self._waiting, self._processes, self.room = WaitingProcesses(), {}, Room(most)
        self.fails_after = 100
        self.dismissed: list[TrialProcess] = []

    def _make(self) -> TrialProcess:
        if len(self._processes) >= self.fails_after:
            raise OSError("no more files")
        sock: Any = None
        made = self._processes[len(self._processes)] = TrialProcess(len(self._processes), sock, [])
        return made

    def send(self, process: TrialProcess, order: Any) -> None:
        self.dismissed.append(process)

    def begin(self, n_bundles: int) -> LocalAttempt | None:
        """Begin an attempt; None if there is no room for it."""
        begun = start(resources=Resources.of([{"cpu": 1}] * n_bundles))
        head = self.take(SHAPE, most_processes_of(begun))
        if head is None:
            return None
        attempt = LocalAttempt(begun, head)
        if n_bundles > 1:
            self.room.keep(attempt, most_processes_of(begun))
        return attempt

    def bury(self, process: TrialProcess) -> None:
        """Let a process be gone."""
        del self._processes[process.number]
        self._waiting.forget(process)

    def idle(self, shape: Shape | None) -> TrialProcess:
        """Add a process that waits."""
        made = self._make()
        made.shape = shape
        self._waiting.add(made)
        return made


def test_ranks_get_all_their_processes_or_none() -> None:
    pool = Pool(10)
    attempt = pool.begin(3)
    assert attempt is not None
    pool.fails_after = 2
    with pytest.raises(OSError, match="no more files"):
        pool.take_ranks(attempt, [SHAPE, SHAPE])
    assert [one.number for one in pool._waiting] == [1]
    pool.fails_after = 10
    assert len(pool.take_ranks(attempt, [SHAPE, SHAPE])) == 2


def test_a_head_starts_only_with_room_for_its_ranks() -> None:
    pool = Pool(6)
    first = pool.begin(2)
    assert first is not None
    assert pool.begin(3) is None  # 1 + 2 for the first, and 4
    second = pool.begin(2)
    assert second is not None
    assert pool.begin(1) is None
    for attempt in (second, first):
        attempt.processes += pool.take_ranks(attempt, [SHAPE] * 2)
        assert len(attempt.processes) == 3


def test_trials_leave_the_room_that_is_kept_also_if_a_process_waits() -> None:
    pool = Pool(3)
    pool.idle(SHAPE)
    pool.idle(SHAPE)
    attempt = pool.begin(2)
    assert attempt is not None
    assert pool.take(SHAPE) is None


def test_ranks_take_no_process_that_has_run_a_trial() -> None:
    pool = Pool(5)
    attempt = pool.begin(2)
    used, spare = pool.idle(SHAPE), pool.idle(None)
    assert attempt is not None
    first, second = pool.take_ranks(attempt, [SHAPE, SHAPE])
    assert first is spare
    assert second is not used


def test_processes_that_wait_end_for_ranks() -> None:
    pool = Pool(3)
    attempt = pool.begin(2)
    assert attempt is not None
    used = [pool.idle(GPU), pool.idle(GPU)]
    assert pool.take_ranks(attempt, [SHAPE, SHAPE]) == []
    assert pool.dismissed == used
    for process in used:
        assert pool.take_ranks(attempt, [SHAPE, SHAPE]) == []
        pool.bury(process)
    assert len(pool.take_ranks(attempt, [SHAPE, SHAPE])) == 2


def test_too_little_room_is_an_error_that_says_so() -> None:
    pool = Pool(2)
    attempt = pool.begin(3)
    assert attempt is not None
    with pytest.raises(OSError, match="at most 2 run at once"):
        pool.take_ranks(attempt, [SHAPE, SHAPE])
