"""Which trial ends, and when, on a machine and a clock that are made up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.worker.limits import memory_guard, process_usage
from overtone.worker.limits.memory_claims import FRESH_S, Neighbours
from overtone.worker.limits.memory_guard import END_WITHIN_S, LOOK_AT_LEAST_EVERY_S, LOOK_EVERY_S, MemoryGuard
from overtone.worker.limits.node_memory import NodeMemory
from overtone.worker.limits.process_usage import ProcessUsage

MB, GB = 10**6, 10**9
TOTAL = 100 * GB
MARGIN = 1 * GB
"""Of so large a machine: a hundredth."""


class Machine:
    """What processes use, by pid, and the time."""

    def __init__(self, yard: Path) -> None:
        self.now = 100.0
        self.own: dict[int, int] = {}
        self.shared: dict[int, int] = {}
        self.families: dict[int, set[int]] = {}
        self.others = 10 * GB
        self.total = TOTAL
        self.weighed: list[int] = []
        self.weighing_s = 0.0
        self._yard = yard

    def of(self, root: int) -> set[int]:
        return {root} | self.families.get(root, set())

    def own_memory(self, pid: int) -> int:
        self.weighed.append(pid)
        self.now += self.weighing_s
        return self.own.get(pid, 0)

    def read(self) -> NodeMemory:
        return NodeMemory(self.others + sum(self.own.values()), self.total)

    def guard(self, share: float = 0.95) -> MemoryGuard:
        return MemoryGuard(share, self.read, Neighbours(self._yard, lambda: self.now), lambda: self.now)

    def look(self, guard: MemoryGuard) -> int | None:
        """The process that is to end, at the next look."""
        self.now += guard.wait_s() or 0.0
        found = guard.look()
        return None if found is None else found.number


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "yard")
    monkeypatch.setattr(
        process_usage, "used", lambda pid: ProcessUsage(0.0, made.own.get(pid, 0) + made.shared.get(pid, 0))
    )
    monkeypatch.setattr(process_usage, "own_memory", made.own_memory)
    monkeypatch.setattr(process_usage, "Families", lambda: made)
    return made


def guarded(machine: Machine, *declared: int) -> MemoryGuard:
    """Trials 0, 1, ... in processes 0, 1, ... with the pids 100, 101, ..."""
    guard = machine.guard()
    for number, amount in enumerate(declared):
        guard.begin(number, 100 + number, 10 + number, amount)
    return guard


def test_nobody_ends_while_there_is_room(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    machine.own = {100: 80 * GB, 101: 3 * GB}
    assert machine.look(guard) is None
    machine.own[101] += 1 * GB + MB  # 94 GB are in use, a margin below Ray's 95
    assert machine.look(guard) == 0


@pytest.mark.parametrize(
    ("total", "line"), [(100 * GB, 94 * GB), (20 * GB, 18_488 * MB), (2 * GB, 1_800 * MB)]
)
def test_the_margin_suits_the_machine(machine: Machine, total: int, line: int) -> None:
    guard = guarded(machine, 0)
    machine.total, machine.others = total, line - GB - MB
    machine.own = {100: GB}
    assert machine.look(guard) is None
    machine.others += 2 * MB
    assert machine.look(guard) == 0


def test_who_is_furthest_above_what_it_declared_ends(machine: Machine) -> None:
    guard = guarded(machine, 60 * GB, 5 * GB, 0)
    machine.own = {100: 62 * GB, 101: 12 * GB, 102: 6 * GB}
    machine.others = 15 * GB
    assert machine.look(guard) == 1


def test_where_nobody_is_above_the_largest_ends(machine: Machine) -> None:
    guard = guarded(machine, 60 * GB, 30 * GB)
    machine.own = {100: 50 * GB, 101: 29 * GB}
    machine.others = 16 * GB
    assert machine.look(guard) == 0


def test_all_processes_of_a_trial_count(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    machine.families[101] = {201, 202}
    machine.own = {100: 40 * GB, 101: 1 * GB, 201: 25 * GB, 202: 20 * GB}
    found = guard.look()
    assert found is not None
    assert (found.number, found.index, found.used, found.family) == (1, 11, 46 * GB, {101, 201, 202})
    assert guard.explain(found).startswith(
        "out of memory: used 46 GB, declared none, when 96 GB of its node's 100 GB were in use"
    )


def test_a_head_and_its_ranks_are_one_trial(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    guard.begin(2, 102, 11, 0)
    machine.own = {100: 40 * GB, 101: 25 * GB, 102: 21 * GB}
    found = guard.look()
    assert found is not None
    assert (found.number, found.index, found.used, found.family) == (1, 11, 46 * GB, {101, 102})
    assert guard.blame(2) is found
    guard.end(2)
    assert guard.blame(1) is found
    guard.end(1)
    del machine.own[101], machine.own[102]
    assert machine.look(guard) is None


def test_memory_that_processes_share_counts_in_proportion(machine: Machine) -> None:
    guard = guarded(machine, 0, 0, 0)
    machine.own = {100: 30 * GB, 101: 40 * GB, 102: 15 * GB}
    machine.shared = {100: 35 * GB}  # resident in it, and not its own
    assert machine.look(guard) == 1
    assert machine.weighed == [100, 101]  # the third cannot be the largest


def test_shared_pages_are_not_counted_for_long_while_memory_is_short(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    machine.own = {100: 5 * GB, 101: 30 * GB}
    machine.shared = {100: 40 * GB}
    machine.weighing_s = 1.0
    assert machine.look(guard) is None
    assert machine.weighed == [100, 101]
    machine.now += 1000
    machine.own[101] += 40 * GB
    machine.own[100] += 10 * GB
    began = machine.now
    assert machine.look(guard) == 1
    assert machine.weighed == [100, 101]
    assert machine.now == began


def test_one_at_a_time(machine: Machine) -> None:
    guard = guarded(machine, 0, 0, 0)
    machine.own = {100: 40 * GB, 101: 30 * GB, 102: 15 * GB}
    assert machine.look(guard) == 0
    assert machine.look(guard) is None  # its memory is not free yet
    guard.end(0)
    del machine.own[100]
    assert machine.look(guard) is None
    machine.own[102] += 50 * GB
    assert machine.look(guard) == 2


def test_a_process_that_does_not_go_does_not_shield_the_others(machine: Machine) -> None:
    guard = guarded(machine, 0, 60 * GB)
    machine.own = {100: 40 * GB, 101: 45 * GB}
    assert machine.look(guard) == 0
    machine.now += END_WITHIN_S
    assert machine.look(guard) == 0


def test_trials_do_not_end_for_what_others_have_taken(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    machine.own = {100: 1 * GB, 101: 1 * GB}
    machine.others = 97 * GB
    assert machine.look(guard) is None
    machine.others = 93 * GB
    assert machine.look(guard) == 1


def test_the_less_room_the_sooner_it_looks(machine: Machine) -> None:
    guard = guarded(machine, 0)
    machine.own = {100: 20 * GB}
    guard.look()
    assert guard.wait_s() == pytest.approx(LOOK_AT_LEAST_EVERY_S)
    machine.now += LOOK_AT_LEAST_EVERY_S
    machine.own = {100: 83_600 * MB}
    guard.look()
    assert guard.wait_s() == pytest.approx(0.1)
    machine.now += 0.1
    machine.own = {100: 83_990 * MB}
    guard.look()
    assert guard.wait_s() == pytest.approx(LOOK_EVERY_S)


def test_looking_leaves_most_of_a_cpu_to_others(machine: Machine) -> None:
    guard = guarded(machine, 0)
    machine.own = {100: 83 * GB}
    machine.weighing_s = 0.1
    guard.look()
    assert guard.wait_s() == pytest.approx(0.4)
    machine.own = {100: 10 * GB}
    machine.now += 0.4
    guard.look()
    machine.weighed.clear()
    for _ in range(100):
        machine.look(guard)
    assert len(machine.weighed) == pytest.approx(
        100 * LOOK_AT_LEAST_EVERY_S / (0.1 / memory_guard.SHARE), abs=2
    )


@pytest.mark.parametrize("offset_s", [0.0, 0.05, 0.1, 0.15, 0.2, 0.249])
def test_it_is_in_time_where_trials_grow_by_a_gigabyte_a_second(machine: Machine, offset_s: float) -> None:
    machine.total = 20 * GB
    guard = guarded(machine, 0, 0)
    machine.own = {100: 100 * MB, 101: 200 * MB}
    guard.look()
    machine.now += offset_s
    began = machine.now
    while machine.now < began + 30:
        machine.own[100] = 100 * MB + int(GB * (machine.now - began))
        if guard.look() is not None:
            break
        machine.now += guard.wait_s() or 0.0
    assert 0.05 * 20 * GB < machine.total - machine.read().used < 0.05 * 20 * GB + 520 * MB
    assert machine.read().used < 0.95 * 20 * GB - 450 * MB  # nearly all of the margin is left for its end


def test_it_looks_only_while_there_are_trials(machine: Machine) -> None:
    guard = machine.guard()
    assert guard.wait_s() is None
    guard.begin(1, 101, 7, 0)
    assert guard.wait_s() == 0
    guard.end(1)
    assert guard.wait_s() is None
    assert guard.look() is None


def test_a_machine_that_does_not_tell_is_asked_again(machine: Machine) -> None:
    guard = MemoryGuard(0.95, lambda: None, machine.guard().neighbours, lambda: machine.now)
    guard.begin(1, 101, 7, 0)
    assert guard.look() is None
    assert guard.wait_s() == pytest.approx(LOOK_AT_LEAST_EVERY_S)


def test_whom_the_kernel_killed_while_memory_was_short_is_to_blame(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    machine.own = {100: 20 * GB, 101: 10 * GB}
    assert machine.look(guard) is None
    assert guard.blame(0) is None
    machine.own[100] = 73_500 * MB
    assert machine.look(guard) is None
    assert guard.blame(1) is None
    machine.now += 1
    suspect = guard.blame(0)
    assert suspect is not None
    assert suspect.used == 73_500 * MB
    machine.now += END_WITHIN_S
    assert guard.blame(0) is None


def test_news_are_rare(machine: Machine) -> None:
    guard = guarded(machine, 0, 0)
    machine.own = {100: 200 * MB, 101: 100 * MB}
    told = []
    for _ in range(100):
        machine.look(guard)
        news = guard.news()
        if news is not None:
            told.append((news.number, news.used))
        machine.own[101] += 5 * MB
    assert told[0] == (0, 200 * MB)
    assert [number for number, _ in told] == [0, *[1] * (len(told) - 1)]
    assert 2 < len(told) < 10


def test_two_runs_at_the_same_moment_do_not_both_end_a_trial(machine: Machine) -> None:
    first, second = guarded(machine, 0), machine.guard()
    second.begin(1, 201, 0, 0)
    machine.own = {100: 40 * GB, 201: 45 * GB}  # at once: the first has not heard of the second
    assert first.look() is not None
    assert second.look() is None


def test_a_run_that_knows_of_a_worse_trial_elsewhere_waits_until_it_is_gone(machine: Machine) -> None:
    first, second = guarded(machine, 0), machine.guard()
    second.begin(1, 201, 0, 0)
    machine.own = {100: 40 * GB, 201: 42 * GB}  # with room, but not much: both tell
    assert first.look() is None
    assert second.look() is None
    machine.own[201] += 5 * GB
    machine.now += LOOK_AT_LEAST_EVERY_S
    assert first.look() is None
    found = second.look()
    assert found is not None
    machine.now += LOOK_EVERY_S
    assert first.look() is None
    second.look()
    second.end(1)
    del machine.own[201]
    machine.now += LOOK_EVERY_S
    assert first.look() is None  # there is room again
    machine.own[100] += 50 * GB
    machine.now += LOOK_AT_LEAST_EVERY_S
    assert first.look() is not None


def test_a_run_that_was_killed_keeps_nobody_waiting(machine: Machine) -> None:
    first, second = guarded(machine, 0), machine.guard()
    second.begin(1, 201, 0, 0)
    machine.own = {100: 40 * GB, 201: 42 * GB}
    assert first.look() is None
    assert second.look() is None
    machine.others += 5 * GB
    machine.now += LOOK_AT_LEAST_EVERY_S
    assert first.look() is None
    machine.now += FRESH_S + 0.01
    assert first.look() is not None


def test_what_a_trial_declares_is_that_of_its_node() -> None:
    def declared(*bundles: dict[str, object], nodes: tuple[str, ...]) -> int:
        demand = Resources.of(list(bundles))
        return memory_guard.declared_memory(
            Start("t", 0, 0, {}, demand, Placement(nodes, ((),) * len(nodes)))
        )

    assert declared({"cpu": 1}, nodes=("a",)) == 0
    assert declared({"cpu": 1, "memory": "2GB"}, nodes=("a",)) == 2 * GB
    assert declared({"memory": "2GB"}, {"memory": "1GB"}, {"memory": "4GB"}, nodes=("a", "a", "b")) == 3 * GB
    assert declared({}, {"memory": "1GB"}, nodes=("", "b")) == GB
