"""A bad world: what stragglers, failures, preemptions and costs do to trials, and what they are charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.job import Job
from overtone.engines.simulated import Machines, Simulated, World
from overtone.errors import ResourceError
from overtone.testing.scripted import Script, go_on, halt


def three(config: Any, t: int) -> Any:
    return ({"loss": 1 / t}, 10.0) if t <= 3 else None


def opened(world: World, curve: Any = three, answer: Any = go_on, **options: Any) -> Script:
    engine = Simulated(world=world)
    engine.open(Job(curve, "curve", Path("exp"), **options))
    return Script(engine, answer)


def times(driver: Script, kind: type = m.Reported) -> list[float]:
    return [event.time for event in driver.events if isinstance(event, kind)]


def test_starting_deciding_and_saving_take_their_time() -> None:
    driver = opened(World(start_s=5, decision_s=1, save_s=2), checkpoint_freq=2)
    driver.start()
    driver.run()
    # 5 + 1 to start, 10 for an iteration, 1 for each answer, 2 for the checkpoint that comes with t=2
    assert times(driver, m.Started) == [6]
    assert times(driver) == [16, 29, 40]


def test_going_on_from_a_checkpoint_costs_more_than_beginning() -> None:
    def answer(event: m.Event) -> Any:
        return [halt(event, save=True)] if isinstance(event, m.Reported) else []

    driver = opened(World(start_s=5, restore_s=3, save_s=2), answer=answer)
    driver.start()
    driver.run()
    assert times(driver, m.Ended) == [17]
    saved = next(event.checkpoint for event in driver.events if isinstance(event, m.Saved))
    driver.start("t", attempt=1, checkpoint=saved)
    driver.run()
    assert times(driver, m.Started) == [5, 25]


def test_stragglers_are_slower_by_one_plus_the_size_of_a_normal_number() -> None:
    driver = opened(World(machines=Machines(cpus=200), straggler_sd=1.0), seed=3)
    for i in range(200):
        driver.start(f"t{i}")
    driver.run()
    slowness = [
        event.metrics["time_this_iter_s"] / 10
        for event in driver.events
        if isinstance(event, m.Reported) and event.t == 1
    ]
    assert min(slowness) >= 1
    # the mean of |z| is sqrt(2 / pi) = 0.798, and 200 of them are within 0.2 of it
    assert sum(slowness) / 200 == pytest.approx(1.798, abs=0.2)


def test_a_faster_machine_takes_less_time() -> None:
    driver = opened(World(machines=Machines(speed=4)))
    driver.start()
    driver.run()
    assert times(driver) == [2.5, 5, 7.5]


def test_failures_come_as_often_as_was_said_and_lose_what_was_not_saved() -> None:
    driver = opened(
        World(machines=Machines(cpus=500), failures_per_hour=60), lambda config, t: ({"x": t}, 1e6), seed=1
    )
    for i in range(500):
        driver.start(f"t{i}")
    driver.run()
    assert {event.cause for event in driver.events if isinstance(event, m.Ended)} == {"killed"}
    account = driver.engine.account  # type: ignore[attr-defined]
    assert account.n_failures == 500
    assert account.trial_s / 500 == pytest.approx(60, rel=0.15)
    assert account.lost_s == pytest.approx(account.trained_s) == pytest.approx(account.trial_s)
    assert account.redone_share == pytest.approx(1.0)


def test_what_was_saved_before_a_preemption_is_not_lost() -> None:
    world = World(machines=Machines(leaves_s=27.0))
    driver = opened(world, checkpoint_freq=1)
    driver.start()
    driver.run()
    account = driver.engine.account  # type: ignore[attr-defined]
    assert driver.story() == ["started", "reported 1", "reported 2", "ended lost"]
    assert (account.trained_s, account.lost_s, account.n_preempted) == (27, 7, 1)


def test_a_preempted_machine_gives_notice_takes_no_more_trials_and_comes_back() -> None:
    world = World(machines=Machines(name="spot", mean_life_s=100, notice_s=5, return_s=7))
    driver = opened(world, lambda config, t: ({"x": t}, 1000.0), seed=2)
    driver.start()
    driver.run()
    noticed = next(event for event in driver.events if isinstance(event, m.Noticed))
    ended = next(event for event in driver.events if isinstance(event, m.Ended))
    assert (noticed.grace_s, ended.cause) == (pytest.approx(5), "lost")
    assert ended.time == pytest.approx(noticed.time + 5)
    driver.run_until(lambda: sum(isinstance(one, m.CapacityChanged) for one in driver.events) >= 3)
    changes = [event for event in driver.events if isinstance(event, m.CapacityChanged)]
    assert [list(change.nodes) for change in changes] == [["spot-0"], [], ["spot-0"]]
    assert [change.time for change in changes[1:]] == [noticed.time, pytest.approx(ended.time + 7)]


def test_machines_join_later_and_leave() -> None:
    world = World(machines=[Machines(), Machines(2, name="late", joins_s=5, leaves_s=15)])
    driver = opened(world)
    driver.start()
    driver.run()
    sizes = [len(event.nodes) for event in driver.events if isinstance(event, m.CapacityChanged)]
    assert sizes == [1, 2, 3, 2, 1]


def test_machines_are_paid_by_the_second_for_as_long_as_they_are_there() -> None:
    world = World(machines=[
        Machines(name="own", price_per_hour=3.6),
        Machines(2, name="rented", price_per_hour=1.8, joins_s=10, leaves_s=20),
    ])  # fmt: skip
    driver = opened(world)
    driver.start()
    driver.run()
    account = driver.engine.account  # type: ignore[attr-defined]
    assert account.cost == pytest.approx(30 * 0.001 + 2 * 10 * 0.0005)
    assert account.machine_s == 50


def test_an_ordinary_trainable_loses_its_process_too() -> None:
    from overtone import tune

    ends: list[str] = []

    def train(config: Any) -> None:
        try:
            while True:
                tune.simulate_time(10)
                tune.report({"x": 1})
        finally:
            ends.append("unwound")

    driver = opened(World(machines=Machines(leaves_s=25)), train)
    driver.start()
    driver.run()
    assert times(driver) == [10, 20]
    assert times(driver, m.Ended) == [25]
    assert ends == ["unwound"]
    assert driver.engine.account.lost_s == 25  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: World(straggler_sd=-1), "straggler_sd=-1"),
        (lambda: World(save_s=float("nan")), "save_s=nan"),
        (lambda: World(save_s=None), "save_s=None"),
        (lambda: World(machines="spot"), "machines='spot': give Machines"),
        (lambda: World(machines=[3]), r"machines=\[3\]: give Machines"),
        (lambda: Machines(0), "count=0"),
        (lambda: Machines(2.5), "count=2.5"),
        (lambda: Machines(name=3), "name=3: give a text"),
        (lambda: Machines(leaves_s="x"), "leaves_s='x': must be a number"),
        (lambda: Machines(leaves_s=float("inf")), "leaves_s=inf"),
        (lambda: Machines(resources=[1]), r"resources=\[1\]: give amounts by name"),
        (lambda: Machines(resources={"gpu": -1}), "gpu=-1: an amount must be 0 or more"),
        (lambda: Simulated(True), "workers=True"),
        (lambda: Simulated(seconds="x"), "seconds='x'"),
        (lambda: Simulated(resources=[1]), r"resources=\[1\]"),
        (lambda: Simulated(world=Machines()), "world=Machines.*: give World"),
        (lambda: Machines(speed=0), "speed=0"),
        (lambda: Machines(joins_s=5, leaves_s=5), "leaves_s=5"),
        (lambda: World(machines=[Machines(), Machines()]), "a name of its own"),
        (lambda: World(machines=Machines(joins_s=1)), "from the beginning"),
        (lambda: Simulated(4, world=World(machines=Machines())), "leave one of them out"),
    ],
)
def test_a_world_that_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_what_no_machine_that_ever_comes_could_run_is_an_error_and_no_wait_for_ever(tmp_path: Path) -> None:
    world = World(machines=Machines(2, mean_life_s=100.0, return_s=1.0))
    with pytest.raises(ResourceError, match="a trial asks for gpu 1"):
        tune.run(
            lambda config, t: {"x": t}, engine=Simulated(world=world), resources_per_trial={"gpu": 1},
            stop={"training_iteration": 1}, verbose=0, storage_path=tmp_path,
        )  # fmt: skip
