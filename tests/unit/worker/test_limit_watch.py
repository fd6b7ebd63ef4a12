"""Trials held to their limits, on a clock and a machine that are made up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from overtone.core.limits import TrialLimits
from overtone.worker.limits import process_usage
from overtone.worker.limits.limit_usage import UsageFile
from overtone.worker.limits.limit_watch import LOOK_AT_LEAST_EVERY_S, LOOK_EVERY_S, LimitWatch
from overtone.worker.limits.process_usage import ProcessUsage


class Machine:
    """What processes use, by pid, and the time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.families: dict[int, set[int]] = {}
        self.used: dict[int, ProcessUsage] = {}
        self.own: dict[int, int] = {}
        self.weighed = 0
        self.weighing_s = 0.0

    def of(self, root: int) -> set[int]:
        return {root} | self.families.get(root, set())

    def own_memory(self, pid: int) -> int:
        self.weighed += 1
        self.now += self.weighing_s
        return self.own.get(pid, 0)

    def watch(self, **limits: float) -> LimitWatch:
        return LimitWatch(TrialLimits(**limits), lambda: self.now)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine()
    monkeypatch.setattr(process_usage, "used", lambda pid: made.used.get(pid, ProcessUsage(0.0, 0)))
    monkeypatch.setattr(process_usage, "own_memory", made.own_memory)
    monkeypatch.setattr(process_usage, "Families", lambda: made)
    return made


def test_time_is_summed_over_attempts(machine: Machine) -> None:
    watch = machine.watch(time_s=10)
    watch.begin(1, 101, index=7)
    machine.now += 6
    assert watch.look() == []
    watch.end(1)
    machine.now += 100
    watch.begin(2, 102, index=7)
    machine.now += 3
    assert watch.look() == []
    machine.now += 1.5
    assert watch.look() == [
        (2, 7, 'ran for 10.5 s, limit 10 s: let the trial do less, or raise "time_s" in trial_limits', {102})
    ]
    assert watch.wait_s() is None


def test_each_trial_in_a_process_has_its_own_time(machine: Machine) -> None:
    watch = machine.watch(time_s=10)
    for index in range(5):
        watch.begin(1, 101, index)
        machine.now += 6
        assert watch.look() == []


def test_cpu_time_is_the_familys_and_not_that_of_the_trial_before(machine: Machine) -> None:
    watch = machine.watch(cpu_s=5)
    machine.used[101] = ProcessUsage(4.0, 0)
    watch.begin(1, 101, index=0)
    machine.families[101] = {201}
    machine.used[101], machine.used[201] = ProcessUsage(6.0, 0), ProcessUsage(2.5, 0)
    machine.now += 1
    assert watch.look() == []
    machine.families[101], machine.used[101] = set(), ProcessUsage(8.5, 0)  # the child was waited for
    machine.now += 1
    assert watch.look() == []
    machine.used[101] = ProcessUsage(9.1, 0)
    machine.now += 1
    ((_, _, error, _),) = watch.look()
    assert error.startswith("used 5.1 s of CPU time, limit 5 s")


def test_a_head_and_its_ranks_are_one_trial(machine: Machine) -> None:
    watch = machine.watch(cpu_s=10, memory=1000)
    for number, pid in ((1, 101), (2, 102), (3, 103)):
        watch.begin(number, pid, index=0)
    for pid in (101, 102, 103):
        machine.used[pid], machine.own[pid] = ProcessUsage(3.0, 300), 300
    machine.now += 1
    assert watch.look() == []
    watch.end(3)  # a rank of the first generation
    machine.used[103] = machine.used[104] = ProcessUsage(0.0, 0)
    watch.begin(4, 104, index=0)
    machine.used[104] = ProcessUsage(1.5, 300)
    machine.now += 1
    ((number, index, error, family),) = watch.look()
    assert (number, index, family) == (1, 0, {101, 102, 104})
    assert error.startswith("used 10.5 s of CPU time, limit 10 s")
    assert watch.wait_s() is None

    watch.begin(1, 101, index=0)
    watch.begin(2, 102, index=0)
    machine.used[102], machine.own[102] = ProcessUsage(3.0, 800), 800
    machine.now += 1
    ((_, _, error, _),) = watch.look()
    assert error.startswith("used 1.1 kB of memory")


def test_memory_that_is_shared_counts_in_proportion(machine: Machine) -> None:
    watch = machine.watch(memory=1e9)
    machine.families[101] = {201}
    machine.used[101] = machine.used[201] = ProcessUsage(0.0, 400_000_000)
    watch.begin(1, 101, index=0)
    assert watch.look() == []
    assert machine.weighed == 0  # the estimate from above is below the limit
    machine.used[201] = ProcessUsage(0.0, 800_000_000)
    machine.own = {101: 200_000_000, 201: 700_000_000}
    machine.now += 1
    assert watch.look() == []
    machine.own[101] = 400_000_000
    machine.now += 1
    ((number, index, error, family),) = watch.look()
    assert (number, index, family) == (1, 0, {101, 201})
    assert error.startswith("used 1.1 GB of memory, limit 1 GB: ")


def test_weighing_takes_little_of_the_time(machine: Machine) -> None:
    watch = machine.watch(memory=1e6)
    machine.used[101], machine.own[101] = ProcessUsage(0.0, 2_000_000), 1
    machine.weighing_s = 0.01
    watch.begin(1, 101, index=0)
    began = machine.now
    for _ in range(100):
        machine.now += LOOK_EVERY_S
        assert watch.look() == []
    assert machine.weighed * machine.weighing_s < 0.06 * (machine.now - began)
    assert machine.weighed > (machine.now - began) / (LOOK_AT_LEAST_EVERY_S + LOOK_EVERY_S) / 1.5


def test_it_says_when_it_looks_next(machine: Machine) -> None:
    watch = machine.watch(time_s=10)
    assert watch.wait_s() is None
    watch.begin(1, 101, index=0)
    assert watch.wait_s() == 0
    watch.look()
    assert watch.wait_s() == pytest.approx(LOOK_EVERY_S)
    watch.end(1)
    watch.end(1)
    assert watch.wait_s() is None


def test_what_was_used_under_an_earlier_driver_counts(machine: Machine, tmp_path: Path) -> None:
    first = LimitWatch(TrialLimits(time_s=10, cpu_s=5), lambda: machine.now, UsageFile(str(tmp_path)))
    first.begin(1, 101, index=7)
    machine.now += 6
    machine.used[101] = ProcessUsage(4.0, 0)
    assert first.look() == []  # and then the driver and all below it are killed
    machine.used = {102: ProcessUsage(0.5, 0)}
    second = LimitWatch(TrialLimits(time_s=10, cpu_s=5), lambda: machine.now, UsageFile(str(tmp_path)))
    second.begin(1, 102, index=7)
    machine.used[102] = ProcessUsage(1.7, 0)
    machine.now += 3
    assert [error.partition(":")[0] for *_, error, _ in second.look()] == [
        "used 5.2 s of CPU time, limit 5 s"
    ]


def test_where_no_trial_ran_nothing_is_left_behind(machine: Machine, tmp_path: Path) -> None:
    watch = LimitWatch(TrialLimits(time_s=10), lambda: machine.now, UsageFile(str(tmp_path)))
    watch.look()
    watch.keep()
    assert list(tmp_path.iterdir()) == []


def test_a_trial_that_a_limit_ended_has_it_again_when_a_resume_tries_it_again(
    machine: Machine, tmp_path: Path
) -> None:
    for _ in range(2):
        watch = LimitWatch(TrialLimits(time_s=10), lambda: machine.now, UsageFile(str(tmp_path)))
        watch.begin(1, 101, index=7)
        machine.now += 9
        assert watch.look() == []
        machine.now += 2
        assert len(watch.look()) == 1
        watch.keep()
