"""What is measured of GPUs: the peaks of trials, and what other programs hold."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from overtone.core.messages import CapacityChanged, Event, Start
from overtone.core.resources import Placement, Resources
from overtone.engines.local.gpu_memory import EVERY_S, STEP, GpuMemoryWatch
from overtone.worker.machines.gpu_memory import GpuMemory

MB, GB = 2**20, 2**30
OTHER = 7


class World:
    """Two GPUs of 8 GiB, of which the first is used; processes are their own only descendants."""

    def __init__(self, knows_pids: bool, size: float = 8 * GB) -> None:
        self.knows_pids = knows_pids
        self.held: dict[int, float] = {}
        self.running: dict[str, Any] = {}
        self.events: list[Event] = []
        self.timers: list[Any] = []
        self.time = 0.0
        amounts = {"gpu": 2.0, "gpu_memory": 16.0 * GB, "gpu_memory:0": size, "gpu_memory:1": 8.0 * GB}
        capacity: Any = SimpleNamespace(amounts=lambda: amounts, gpu_reader=self)
        loop: Any = SimpleNamespace(now=lambda: self.time, at=lambda time, call: self.timers.append(call))
        self.watch = GpuMemoryWatch(capacity, self.running, loop, self.events, "local")
        self.watch._families = cast(Any, SimpleNamespace(of=lambda pid: {pid}))

    def read(self) -> list[GpuMemory | None]:
        by_pid: Mapping[int, float] | None = dict(self.held) if self.knows_pids else None
        return [GpuMemory(8.0 * GB, sum(self.held.values()), by_pid), None]

    def start(self, name: str, pid: int, memory: Any = "2GiB", **others: Any) -> Start:
        demand = Resources.of({"gpu_memory": memory, **others})
        share = dict(demand.bundles[0])["gpu"]
        start = Start(name, 0, 0, {}, demand, Placement(("local",), (((0, share),),)))
        process = SimpleNamespace(shown_pid=pid)
        self.running[name] = SimpleNamespace(start=start, processes=[process])
        self.watch.on_start(start)
        return start

    def end(self, start: Start) -> float:
        del self.running[start.trial_id]
        return self.watch.on_end(start)

    def look(self) -> None:
        self.time += EVERY_S
        (call,) = self.timers
        self.timers.clear()
        call()

    @property
    def taken(self) -> list[float]:
        """What others hold of the first GPU in GiB, as told, with each change."""
        told = [one for one in self.events if isinstance(one, CapacityChanged)]
        return [one.nodes["local"].get("gpu_memory_taken:0", 0.0) / GB for one in told]


@pytest.fixture(params=[True, False], ids=["pids", "container"])
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_what_others_hold_at_the_beginning(world: World) -> None:
    world.held = {OTHER: 2 * GB}
    assert world.watch.begin() == "GPU 0: other programs hold 2.0 of 8.0 GiB"
    assert world.taken == [2]
    world.held = {}
    world.look()
    world.look()
    assert world.taken == [2, 0]


def test_nothing_is_watched_before_a_trial_asks_for_memory(world: World) -> None:
    assert world.watch.begin() == ""
    assert not world.timers
    world.start("a", 1)
    assert len(world.timers) == 1
    world.start("b", 2)
    assert len(world.timers) == 1


def test_trials_are_not_others(world: World) -> None:
    world.watch.begin()
    world.start("a", 1)
    world.start("b", 2)
    world.held = {1: 1 * GB, 2: 2 * GB}
    world.look()
    assert world.taken == [0]


def test_other_programs_come(world: World) -> None:
    world.watch.begin()
    world.start("a", 1)
    world.held = {1: 1 * GB, OTHER: 3 * GB}
    world.look()
    # in a container it is not known whose memory it is: 1 GiB may be the trial's, that reserved 2
    assert world.taken == [0, 3 if world.knows_pids else 2]


def test_the_peak_of_a_trial_that_is_alone(world: World) -> None:
    world.held = {OTHER: 1 * GB}
    world.watch.begin()
    alone = world.start("a", 1, "auto")
    for used in (1, 5, 2):
        world.held = {OTHER: 1 * GB, 1: used * GB}
        world.look()
    world.watch.on_peak("a", 3.0 * GB)
    world.held.pop(1)
    assert world.end(alone) == 5 * GB


def test_a_peak_that_pytorch_alone_knows() -> None:
    world = World(knows_pids=True)
    world.watch.begin()
    alone = world.start("a", 1, "auto")
    world.watch.on_peak("a", 3.0 * GB)
    assert world.end(alone) == 3.5 * GB  # with CUDA's own


def test_the_peaks_of_other_trials_are_not_told(world: World) -> None:
    world.watch.begin()
    start = world.start("a", 1)
    world.held = {1: 1 * GB}
    world.look()
    assert world.end(start) == 0.0


def test_memory_that_comes_back_late_is_told_before_the_end(world: World) -> None:
    world.watch.begin()
    start = world.start("a", 1)
    world.held = {1: 2 * GB}
    world.look()
    world.end(start)
    assert world.taken == [0, 2]
    world.held = {}
    world.look()
    assert world.taken == [0, 2]  # it may only have looked so
    world.look()
    assert world.taken == [0, 2, 0]


def test_small_changes_are_not_told(world: World) -> None:
    world.watch.begin()
    world.start("a", 1, gpu=1)
    for used in (50, 120, 10, 100):
        world.held = {OTHER: used * MB}
        world.look()
    assert world.taken == [0]
    for used in (1000, 950, 900, 1000):
        world.held = {OTHER: used * MB}
        world.look()
    assert len(world.taken) <= 2
    assert world.taken[-1] * GB % STEP == 0


def test_declared_sizes_are_what_trials_use() -> None:
    world = World(knows_pids=True, size=4.0 * GB)
    world.held = {OTHER: 3 * GB}
    world.watch.begin()
    assert world.taken == [0]  # the GPU has 8: 5 are left
    world.held = {OTHER: 5 * GB}
    world.start("a", 1)
    world.look()
    assert world.taken == [0, 1]


def test_the_end_of_another_trial_costs_no_look(world: World) -> None:
    world.watch.begin()
    plain = Start("p", 0, 0, {}, Resources.of({"cpu": 1}), Placement(("local",), ((),)))
    world.read = lambda: pytest.fail("a look")  # type: ignore[method-assign]
    assert world.watch.on_end(plain) == 0.0
