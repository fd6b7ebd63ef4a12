"""What is particular to trials in the driver's own process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.resources import Placement, Resources
from overtone.engines.inline import PUMP_EVERY_S, YOUNG_S, Inline
from overtone.testing import faulty
from overtone.testing.folder_store import FolderStore
from overtone.testing.scripted import Script, go_on, halt
from overtone.worker.session.current import current

Open = Callable[..., Script]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def make(trainable: Any, answer: Any = go_on, **options: Any) -> Script:
        engine = Inline(cpus=2, gpus=1, resources={"tpu": 3})
        engine.open(Job(trainable, "train", tmp_path, store=FolderStore(tmp_path / "store"), **options))
        return Script(engine, answer)

    return make


def test_its_capacity(opened: Open) -> None:
    (capacity,) = opened(faulty.reports).engine.poll(0)
    assert isinstance(capacity, m.CapacityChanged)
    amounts = dict(capacity.nodes["local"])
    assert amounts.pop("memory") > 1e6
    assert amounts == {"cpu": 2, "gpu": 1, "tpu": 3}


def test_a_trial_runs_in_this_process_and_thread(opened: Open) -> None:
    import threading

    where: list[Any] = []

    def train(config: Any) -> float:
        where.append((os.getpid(), threading.current_thread()))
        return 1.0

    driver = opened(train)
    driver.start()
    driver.run()
    assert where == [(os.getpid(), threading.main_thread())]
    assert next(one.pid for one in driver.events if isinstance(one, m.Started)) == os.getpid()


def test_trials_run_strictly_one_after_the_other(opened: Open) -> None:
    driver = opened(faulty.reports)
    driver.start("a")
    driver.start("b")
    driver.run()
    assert [one.trial_id for one in driver.events if isinstance(one, (m.Started, m.Ended))] == [
        "a",
        "a",
        "b",
        "b",
    ]


def test_the_config_of_the_experiment_is_safe_from_the_trial(opened: Open) -> None:
    def train(config: Any) -> float:
        config["layers"].append(3)
        return 1.0

    config = {"layers": [1, 2]}
    driver = opened(train)
    driver.start(config=config)
    driver.run()
    assert config == {"layers": [1, 2]}


def test_a_trial_that_cannot_be_parked_redoes_its_work(opened: Open) -> None:
    driver = opened(
        faulty.reports, lambda event: [halt(event, True, True)] if isinstance(event, m.Reported) else []
    )
    driver.start()
    driver.run()
    assert driver.story() == ["started", "reported 1", "ended halted"]


def test_a_queued_start_can_be_halted(opened: Open) -> None:
    def answer(event: m.Event) -> Sequence[m.Command]:
        return [m.Halt("b", 0), *go_on(event)] if isinstance(event, m.Reported) else []

    driver = opened(faulty.reports, answer)
    driver.start("a")
    driver.start("b")
    driver.run()
    assert driver.story("b") == ["ended halted"]
    assert driver.story("a")[-1] == "ended returned"


def test_ctrl_c_reaches_the_run_and_the_trial_has_ended(opened: Open) -> None:
    def train(config: Any) -> None:
        current().report(a=1)
        raise KeyboardInterrupt

    driver = opened(train)
    driver.start()
    with pytest.raises(KeyboardInterrupt):
        driver.run()
    driver.run()
    assert driver.story() == ["started", "reported 1", "ended halted"]


def test_so_does_leaving_the_debugger(opened: Open) -> None:
    import bdb

    def train(config: Any) -> None:
        raise bdb.BdbQuit

    driver = opened(train)
    driver.start()
    with pytest.raises(KeyboardInterrupt):
        driver.run()


def test_an_error_of_the_run_is_not_the_trials(opened: Open) -> None:
    seen: list[BaseException] = []

    def train(config: Any) -> None:
        try:
            current().report(a=1)
        except BaseException as error:
            seen.append(error)
            raise

    def answer(event: m.Event) -> Sequence[m.Command]:
        if isinstance(event, m.Reported):
            raise ZeroDivisionError("in the scheduler")
        return []

    driver = opened(train, answer)
    driver.start()
    with pytest.raises(ZeroDivisionError, match="in the scheduler"):
        driver.run()
    assert [type(error).__name__ for error in seen] == ["TrialHalted"]


def test_results_of_a_trial_that_runs_ahead_are_seen_while_it_runs(opened: Open) -> None:
    seen: list[list[str]] = []
    drivers: list[Script] = []

    def train(config: Any) -> None:
        current().report(a=1)
        time.sleep(PUMP_EVERY_S + 2 * YOUNG_S)  # it may have passed on its start alone
        current().report(a=2)
        seen.append(drivers[0].story())

    drivers.append(opened(train))
    drivers[0].start(until_t=m.NEVER)
    drivers[0].run()
    assert seen[0][:2] == ["started", "reported 1"]
    assert drivers[0].story() == ["started", "reported 1", "reported 2", "ended returned"]


def test_a_waiting_trial_hears_of_a_tick(opened: Open) -> None:
    def answer(event: m.Event) -> Sequence[m.Command]:
        if isinstance(event, m.Reported):
            return [m.Wake(event.time + 0.01)]
        return [m.Proceed("t", 0, 9.0)] if isinstance(event, m.Tick) else []

    driver = opened(faulty.reports, answer)
    driver.start()
    driver.run()
    assert driver.story() == ["started", "reported 1", "tick", "reported 2", "ended returned"]


def test_output_goes_to_files_where_the_job_says_so(opened: Open, tmp_path: Path) -> None:
    def train(config: Any) -> float:
        print("hello")
        return 1.0

    driver = opened(train, log_to_file=("stdout", "stderr"))
    driver.start()
    driver.run()
    assert (tmp_path / "t" / "stdout").read_text() == "hello\n"


def test_it_needs_a_pump(tmp_path: Path) -> None:
    engine = Inline(cpus=1)
    engine.open(Job(faulty.reports, "train", tmp_path))
    engine.poll(0)
    place = Placement(("local",), ((),))
    engine.submit([m.Start("t", 0, 0, {}, Resources.of({"cpu": 1}), place)])
    with pytest.raises(RuntimeError, match="attach"):
        engine.poll(0)
