"""Virtual time: its order, its exactness, its independence of the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.engines.simulated import Simulated
from overtone.errors import TrainableError
from overtone.testing.curves import ending, exponential, irregular
from overtone.testing.scripted import Script, go_on, halt, proceed
from overtone.worker.trainables.with_parameters import with_parameters


def opened(curve: Any, answer: Any = go_on, engine: Simulated | None = None, **options: Any) -> Script:
    engine = engine or Simulated(workers=2, seconds=10)
    engine.open(Job(curve, "curve", Path("exp"), **options))
    return Script(engine, answer)


def two(config: Any, t: int) -> Any:
    return None if t > 2 else {"loss": 1 / t}


def times(driver: Script, kind: type = m.Reported) -> list[float]:
    return [event.time for event in driver.events if isinstance(event, kind)]


def test_iterations_take_their_time_and_the_machine_none() -> None:
    driver = opened(two)
    driver.start()
    driver.run()
    assert times(driver) == [10, 20]
    assert times(driver, m.Ended) == [20]
    assert driver.engine.now() == 20


def test_two_workers_run_two_trials_at_once() -> None:
    driver = opened(two)
    for name in "abc":
        driver.start(name)
    driver.run()
    assert times(driver) == [10, 10, 20, 20, 30, 40]


def test_a_curve_may_say_how_long_an_iteration_takes() -> None:
    driver = opened(lambda config, t: ({"loss": 1}, t) if t < 4 else None)
    driver.start()
    driver.run()
    assert times(driver) == [1, 3, 6]
    last = [event.metrics for event in driver.events if isinstance(event, m.Reported)][-1]
    assert (last["time_this_iter_s"], last["time_total_s"], last["date"]) == (3, 6, "1970-01-01_00-00-06")


def test_a_trial_that_waits_stands_still_until_its_answer() -> None:
    def answer(event: m.Event) -> Sequence[m.Command]:
        if isinstance(event, m.Reported) and event.t == 1:
            return [m.Wake(event.time + 100)]
        return [m.Proceed("t", 0, 9)] if isinstance(event, m.Tick) else []

    driver = opened(two, answer)
    driver.start()
    driver.run()
    assert times(driver) == [10, 120]


def test_running_ahead_changes_no_event() -> None:
    def story(until_t: float) -> list[Any]:
        driver = opened(irregular(ending(exponential, 5)), engine=Simulated(workers=3))
        for i in range(7):
            driver.start(f"t{i}", {"rate": i / 10}, until_t=until_t)
        driver.run()
        return driver.events

    assert story(0) == story(m.NEVER)


def test_a_busy_trial_halts_at_its_next_report() -> None:
    driver = opened(exponential)
    driver.start(until_t=m.NEVER)
    driver.handle(driver.engine.poll(0))
    driver.handle(driver.engine.poll(0))
    driver.engine.submit([m.Halt("t", 0, save=True)])
    driver.run()
    assert driver.story() == ["started", "reported 1", "saved 1", "ended halted"]


def test_checkpoints_cost_nothing_and_keep_the_time() -> None:
    driver = opened(exponential, lambda event: [halt(event, True)] if isinstance(event, m.Reported) else [])
    driver.start()
    driver.run()
    saved = next(event.checkpoint for event in driver.events if isinstance(event, m.Saved))
    assert saved.uri == "simulated:t/1"
    driver.start("clone", checkpoint=saved)
    driver.handle([])
    driver.engine.submit([m.Discard(saved.uri)])
    driver.run()
    metrics = [event.metrics for event in driver.events if isinstance(event, m.Reported)][-1]
    fields = ("training_iteration", "time_total_s", "time_since_restore", "iterations_since_restore")
    assert [metrics[name] for name in fields] == [2, 20, 10, 1]


def test_a_new_config_counts_from_the_next_iteration_on() -> None:
    def answer(event: m.Event) -> Sequence[m.Command]:
        return [proceed(event, config={"x": event.t})] if isinstance(event, m.Reported) else []

    driver = opened(lambda config, t: {"x": config["x"]} if t < 4 else None, answer)
    driver.start(config={"x": 0})
    driver.run()
    assert [event.metrics["x"] for event in driver.events if isinstance(event, m.Reported)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("curve", "cause"),
    [
        (lambda config, t: None, "returned"),
        (lambda config, t: next(iter(())), "returned"),
        (lambda config, t: 1 / 0, "raised"),
    ],
)
def test_ends(curve: Any, cause: str) -> None:
    driver = opened(curve)
    driver.start()
    driver.run()
    assert driver.story() == ["started", f"ended {cause}"]


def test_numbers_and_numpy_become_plain_metrics() -> None:
    driver = opened(lambda config, t: np.float32(0.5) if t < 2 else None)
    driver.start()
    driver.run()
    value = next(event.metrics["_metric"] for event in driver.events if isinstance(event, m.Reported))
    assert (value, type(value)) == (0.5, float)


def test_parameters_are_bound() -> None:
    def curve(config: Any, t: int, scale: float) -> Any:
        return scale if t == 1 else None

    for driver in (opened(with_parameters(curve, scale=2.0)), opened(curve, parameters={"scale": 2.0})):
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended returned"]


def test_a_poll_without_time_leaves_the_clock_alone() -> None:
    driver = opened(two)
    driver.start()
    driver.handle(driver.engine.poll(0))
    driver.handle(driver.engine.poll(0))
    assert driver.story() == ["started"]
    assert list(driver.engine.poll(0)) == []
    assert driver.engine.now() == 0


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (({"x": 1}, 2, 3), "the curve returned .* return metrics, or \\(metrics, seconds\\)"),
        (({"x": 1}, None), "seconds a number"),
        (({"x": 1}, -1), "iteration 1 takes -1 s"),
        (({"x": 1}, float("nan")), "iteration 1 takes nan s"),
    ],
)
def test_a_point_that_is_none_fails_its_trial(point: Any, message: str) -> None:
    driver = opened(lambda config, t: point)
    driver.start()
    driver.run()
    ended = driver.events[-1]
    assert isinstance(ended, m.Ended)
    assert re.search(message, ended.error)


def test_a_curve_does_not_yield() -> None:
    def curve(config: Any, t: int) -> Any:
        yield {"x": 1}

    with pytest.raises(TrainableError, match="a curve returns the metrics of iteration t"):
        opened(curve)


def test_what_is_no_curve() -> None:
    for trainable in (Path, 7):
        with pytest.raises(TrainableError, match=r"def curve\(config, t\)"):
            opened(trainable)


@pytest.mark.parametrize(
    ("arguments", "name"), [({"workers": 0}, "workers=0"), ({"seconds": -1}, "seconds=-1")]
)
def test_wrong_arguments(arguments: Any, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Simulated(**arguments)
