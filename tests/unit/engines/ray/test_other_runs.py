"""What other runs leave: those that speak, those that have fallen silent, and programs that know nothing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.other_runs import PASSED_OVER_S, SAMPLES, UNCLAIMED_S, Neighbours
from overtone.engines.ray.run_claims import NOTHING_YET, Claim

CPU = Resources.of({"cpu": 1})
NOBODY: frozenset[str] = frozenset()


class Cluster:
    """One node of 8 CPUs, as one run sees it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.run = Neighbours("me", 0.0, lambda: self.now)

    def look(self, free: float, mine: int = 0, times: int = SAMPLES) -> None:
        for _ in range(times):
            self.now += 0.5
            self.run.look([NodeFacts("a", "a", "a", {"cpu": 8.0}, {"cpu": free}, {})], {"a": {"cpu": mine}})

    def hear(self, *others: Claim) -> None:
        self.run.hear({one.run: one.text() for one in others})

    def left(self, held: int = 0, wants: int = 0) -> Mapping[str, float]:
        self.run.claim({(CPU, ("a",)): held} if held else {}, [(CPU, wants)] if wants else [], NOBODY)
        return self.run.allow().left["a"]

    def returns(self, held: int) -> int:
        self.run.claim({(CPU, ("a",)): held}, [(CPU, 64)], NOBODY)
        return self.run.allow().n_returns


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def other(held: int = 0, wants: int = 0, spent: float = 0.0) -> Claim:
    return Claim("other", 0.0, 0.0, spent, {(CPU, ("a",)): held}, [(CPU, wants)])


def test_what_unknown_programs_hold_is_believed_after_some_looks(cluster: Cluster) -> None:
    cluster.look(free=2.0, times=SAMPLES - 1)
    assert cluster.left() == {"cpu": 8.0}
    cluster.look(free=2.0, times=1)
    assert cluster.left() == {"cpu": 2.0}
    cluster.look(free=8.0, times=1)
    assert cluster.left() == {"cpu": 8.0}


def test_what_a_run_says_that_it_holds_counts_at_once(cluster: Cluster) -> None:
    cluster.look(free=8.0)
    cluster.hear(other(held=5))
    assert cluster.left(wants=9) == {"cpu": 3.0}
    cluster.hear(other(held=4))
    assert cluster.left(wants=9) == {"cpu": 4.0}


def test_figures_that_lag_behind_for_a_moment_change_nothing(cluster: Cluster) -> None:
    cluster.look(free=6.0, mine=2, times=2 * SAMPLES)
    cluster.look(free=6.0, mine=0, times=1)
    assert cluster.left() == {"cpu": 8.0}


def test_memory_for_objects_is_what_there_is(cluster: Cluster) -> None:
    for _ in range(SAMPLES):
        cluster.run.look([NodeFacts("a", "a", "a", {"object_store_memory": 9.0}, {}, {})], {})
    assert cluster.left() == {"object_store_memory": 9.0}


def test_a_run_that_has_fallen_silent_keeps_what_ray_says_that_it_holds(cluster: Cluster) -> None:
    cluster.hear(other(held=5, wants=64))
    cluster.look(free=3.0)
    assert cluster.left(wants=9) == {"cpu": 3.0}
    cluster.hear()  # its driver is stopped
    assert not cluster.run.are_there
    assert cluster.left(wants=9) == {"cpu": 3.0}
    cluster.look(free=8.0, times=1)  # its driver was killed
    assert cluster.left(wants=9) == {"cpu": 8.0}


def test_what_a_run_held_that_has_ended_is_there_at_once(cluster: Cluster) -> None:
    cluster.hear(other(held=4, wants=64))
    cluster.look(free=0.0, mine=4)
    assert cluster.left(held=4, wants=64) == {"cpu": 4.0}
    cluster.hear(other())  # its last words
    assert cluster.left(held=4, wants=64) == {"cpu": 8.0}
    cluster.look(free=4.0, mine=4, times=1)
    cluster.hear()
    assert cluster.left(held=4, wants=64) == {"cpu": 8.0}


def test_what_ray_gives_to_a_run_is_held_by_nobody_else(cluster: Cluster) -> None:
    cluster.look(free=0.0, mine=4)  # another program has 4
    assert cluster.left(held=4, wants=64) == {"cpu": 4.0}
    assert cluster.left(held=6, wants=64) == {"cpu": 6.0}  # it has ended, and Ray's figures lag behind


def test_what_is_due_to_a_run_that_does_not_take_it_goes_to_others(cluster: Cluster) -> None:
    cluster.look(free=8.0)
    cluster.hear(other(wants=4))
    assert cluster.left(wants=64) == {"cpu": 4.0}
    cluster.now += UNCLAIMED_S
    assert cluster.left(wants=64) == {"cpu": 8.0}
    assert cluster.left(held=4, wants=64) == {"cpu": 8.0}
    cluster.hear(other(held=1, wants=3))  # it has begun to
    assert cluster.left(held=4, wants=64) == {"cpu": 4.0}


def test_a_run_that_was_slow_to_take_what_is_due_to_it_is_not_forgotten(cluster: Cluster) -> None:
    cluster.look(free=8.0)
    cluster.hear(other(wants=64, spent=NOTHING_YET))
    assert cluster.returns(held=7) > 0  # and one slot is free for it
    cluster.now += UNCLAIMED_S
    assert cluster.returns(held=8) == 0  # this run took it
    cluster.now += UNCLAIMED_S
    assert cluster.returns(held=8) > 0


def test_a_run_that_never_takes_what_is_due_to_it_is_offered_it_ever_less_often(cluster: Cluster) -> None:
    cluster.look(free=8.0)
    cluster.hear(other(wants=64, spent=NOTHING_YET))
    idle, began = [], cluster.now
    while cluster.now < began + 600.0:
        if cluster.left(held=7, wants=64)["cpu"] < 8.0:
            idle.append(cluster.now - began)
        cluster.now += 0.5
    waits = [after - before for before, after in itertools.pairwise(idle) if after - before > 0.5]
    assert waits[0] == pytest.approx(UNCLAIMED_S, abs=1.0)
    assert waits[1] == pytest.approx(2 * UNCLAIMED_S, abs=1.0)
    assert waits[-1] == pytest.approx(PASSED_OVER_S, abs=1.0)
    cluster.hear(other(held=1, wants=64))
    cluster.left(held=7, wants=64)
    cluster.hear(other(wants=64))
    assert cluster.left(held=7, wants=64)["cpu"] < 8.0


def test_time_in_which_a_run_wanted_nothing_gives_it_no_advantage(cluster: Cluster) -> None:
    assert cluster.run.claim({}, [], NOBODY).spent == NOTHING_YET
    cluster.hear(other(held=4, wants=9, spent=50.0))
    held = {(CPU, ("a",)): 4}
    assert cluster.run.claim(held, [], NOBODY).spent == 50.0
    cluster.look(free=0.0, mine=4)
    assert cluster.run.claim(held, [(CPU, 9)], NOBODY).spent == pytest.approx(51.0)
    cluster.hear(other(held=4, wants=9, spent=80.0))
    assert cluster.run.claim(held, [(CPU, 9)], NOBODY).spent == pytest.approx(51.0)
    assert cluster.run.claim(held, [], NOBODY).spent == 80.0


def test_what_cannot_be_read_is_nobody(cluster: Cluster) -> None:
    cluster.run.hear({"other": "{]"})
    assert not cluster.run.are_there
