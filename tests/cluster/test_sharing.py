"""Runs that share a cluster: with limits, on some nodes only, with priorities, each in its environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.errors import OvertoneError, ResourceError

pytestmark = pytest.mark.filterwarnings("default")


def nap(config: dict[str, Any]) -> None:

    time.sleep(config["s"])
    tune.report({"loss": 0.0})


def wait_for_file(config: dict[str, Any]) -> None:
    while not Path(config["file"]).exists():
        time.sleep(0.02)
    tune.report({"loss": 0.0})


def search(engine: Any, seen: Any, folder: Path, trainable: Any = nap, **options: Any) -> Any:
    defaults = {"metric": "loss", "mode": "min", "verbose": 0, "name": "shares"}
    return tune.start(
        trainable, engine=engine, callbacks=[seen], storage_path=str(folder), **{**defaults, **options}
    )


def most_at_once(events: list[Any]) -> int:
    running, most = 0, 0
    for event in events:
        running += (type(event) is m.Started) - (type(event) is m.Ended)
        most = max(most, running)
    return most


def n_started(events: list[Any]) -> int:
    return sum(type(event) is m.Started for event in events)


def test_a_run_keeps_to_its_limit_and_to_nodes_with_its_labels(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    vision, _ = nodes.add_all(
        {"num_cpus": 4, "num_gpus": 4, "labels": {"team": "vision", "disk": "fast"}},
        {"num_cpus": 4, "num_gpus": 4, "labels": {"team": "speech"}},
    )
    nodes.wait()
    on = engine(max_resources={"gpu": 2}, labels={"team": "vision"})
    file = tmp_path / "may_end"
    run = search(
        on, seen, tmp_path, wait_for_file, config={"file": str(file)}, num_samples=5,
        resources_per_trial={"cpu": 1, "gpu": 1},
    )  # fmt: skip
    seen.wait(lambda events: n_started(events) == 2)
    name = on.names[vision.node_id]
    file.touch()
    analysis = run.wait(timeout_s=300)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 5
    assert {event.node for event in seen.of(m.Started)} == {name}
    assert most_at_once(seen.events) == 2


def test_labels_that_no_node_has_are_named(cluster: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    on = engine(labels={"team": "none"}, resource_timeout_s=1)
    run = search(on, seen, tmp_path, config={"s": 0.0}, resources_per_trial={"cpu": 1})
    told = "waiting for cpu 1: no node with the labels team=none has that now, for 1 s"
    with pytest.raises(ResourceError, match=told):
        run.wait(timeout_s=300)


def test_a_run_waits_no_longer_than_it_should_for_what_no_node_has(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    on = engine(resource_timeout_s=1)
    run = search(on, seen, tmp_path, config={"s": 0.0}, resources_per_trial={"cpu": 1, "license": 1})
    with pytest.raises(ResourceError, match="waiting for cpu 1, license 1: no node has that now, for 1 s"):
        run.wait(timeout_s=300)


def test_a_run_that_waits_says_for_whom(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, until: Any
) -> None:
    run = search(engine(), seen, tmp_path, config={"s": 3600.0}, num_samples=1, resources_per_trial={"cpu": 1})
    seen.wait(n_started)
    other = engine()
    waiting = search(
        other, type(seen)(), tmp_path, name="waits", config={"s": 0.0}, num_samples=1,
        resources_per_trial={"cpu": 1},
    )  # fmt: skip
    until(lambda: other.waits() == "waiting: others hold it")
    run.stop()
    run.wait(timeout_s=300)
    assert [trial.status for trial in waiting.wait(timeout_s=300).trials] == ["TERMINATED"]
    assert other.waits() == ""


def n_agents() -> int:
    """The number of processes that work, or have worked, for a run on this machine."""
    found = 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            found += " ".join(process.cmdline()).startswith("ray::NodeAgent")
    return found


def test_runs_at_the_same_time_leave_one_idle_agent(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path, until: Any
) -> None:
    before = n_agents()
    for pair in range(3):
        runs = [
            search(
                engine(), type(seen)(), tmp_path, name=f"{pair}-{i}", config={"s": 0.3}, num_samples=1,
                resources_per_trial={"cpu": 0.5},
            )
            for i in range(2)
        ]  # fmt: skip
        for run in runs:
            assert [trial.status for trial in run.wait(timeout_s=300).trials] == ["TERMINATED"]
    until(lambda: n_agents() <= max(1, before))


def test_gangs_of_two_runs_do_not_wait_for_each_other(nodes: Any, engine: Any, tmp_path: Path) -> None:
    nodes.add_all({"num_cpus": 1}, {"num_cpus": 1})  # three bundles fit: a gang and a half
    nodes.wait()
    gang = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}], strategy="STRICT_SPREAD")
    runs = [
        tune.start(
            nap, config={"s": 0.2}, num_samples=3, resources_per_trial=gang, engine=engine(), verbose=0,
            storage_path=str(tmp_path), name=name, metric="loss", mode="min",
        )
        for name in ("one", "other")
    ]  # fmt: skip
    for run in runs:
        assert [trial.status for trial in run.wait(timeout_s=300).trials] == ["TERMINATED"] * 3


@pytest.fixture(scope="module")
def four_cpus(module_nodes: Any) -> None:
    """Three CPUs besides that of the head."""
    module_nodes.add(num_cpus=3)
    module_nodes.wait()


def test_one_of_lower_priority_makes_room(four_cpus: None, engine: Any, seen: Any, tmp_path: Path) -> None:
    low = search(
        engine(), seen, tmp_path, name="low", config={"s": 0.5}, num_samples=10_000, resources_per_trial={"cpu": 1}
    )
    seen.wait(lambda events: sum(type(event) is m.Ended for event in events) >= 3)
    later = type(seen)()
    file = tmp_path / "may_end"
    high = search(
        engine(priority=1), later, tmp_path, wait_for_file, name="high", config={"file": str(file)}, num_samples=12,
        resources_per_trial={"cpu": 1},
    )  # fmt: skip
    later.wait(lambda events: n_started(events) == 4)
    file.touch()
    analysis = high.wait(timeout_s=300)
    assert high.done
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 12
    assert most_at_once(later.events) == 4
    n_ended = len(seen.of(m.Ended))
    assert not low.done
    seen.wait(lambda events: sum(type(event) is m.Ended for event in events) >= n_ended + 6)
    assert {event.cause for event in seen.of(m.Ended)} == {"returned"}
    low.stop()
    low.wait(timeout_s=300)


SCRIPT = """
import json, os, sys
from overtone import tune

def train(config):
    import flavours
    tune.report(loss=0.0, flavour=flavours.found())

env = {"working_dir": sys.argv[2], "env_vars": {"FLAVOUR": "umami"}}
analysis = tune.run(train, engine=tune.ray_cluster(runtime_env=env), storage_path=sys.argv[1], metric="loss", mode="min")
print("found", [trial.last_result["flavour"] for trial in analysis.trials])
"""


def test_trials_run_in_the_environment_of_the_run(cluster: Any, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "flavours.py").write_text("import os\n\ndef found():\n    return os.environ['FLAVOUR']\n")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    command = [sys.executable, str(script), str(tmp_path / "results"), str(work)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "found ['umami']" in done.stdout


def test_an_environment_comes_too_late_where_ray_is_there(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    run = search(engine(runtime_env={"env_vars": {"A": "1"}}), seen, tmp_path, config={"s": 0.0})
    with pytest.raises(OvertoneError, match="Ray is initialised in this process already"):
        run.wait(timeout_s=300)


DRIVER = """
import os, sys, time

folder, nap_s, samples, priority = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])

def nap(config):
    from overtone import tune

    began = time.time()
    time.sleep(nap_s)
    file = os.open(os.path.join(folder, "trials"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{began} {time.time()}\\n".encode())
    os.close(file)
    tune.report({"loss": 0.0})

from overtone import tune

tune.run(nap, num_samples=samples, metric="loss", mode="min", verbose=0, storage_path=folder, name="run",
         resources_per_trial={"cpu": 1}, reuse_actors=True, engine=tune.ray_cluster(priority=priority))
"""


class Driver:
    """A run in a process of its own, whose trials sleep."""

    def __init__(self, cluster: Any, folder: Path, nap_s: float, samples: int, priority: float = 0) -> None:
        folder.mkdir()
        self._file = folder / "trials"
        script = folder / "script.py"
        script.write_text(DRIVER)
        command = [sys.executable, str(script), str(folder), str(nap_s), str(samples), str(priority)]
        self.process = subprocess.Popen(
            command, env={**os.environ, "RAY_ADDRESS": cluster.address}, stderr=subprocess.DEVNULL
        )

    def trials(self) -> list[tuple[float, float]]:
        """(begin, end) of each that has ended."""
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return sorted((float(line.split()[0]), float(line.split()[1])) for line in lines)

    def wait_for(self, count: int, within_s: float = 300) -> list[tuple[float, float]]:
        """Its trials, once so many have ended."""
        deadline = time.monotonic() + within_s
        while len(self.trials()) < count:
            assert time.monotonic() < deadline, f"{len(self.trials())} of {count} trials in {within_s:g} s"
            time.sleep(0.05)
        return self.trials()


@pytest.fixture
def drivers(cluster: Any, tmp_path: Path) -> Iterator[Callable[..., Driver]]:
    """Makes drivers, which are killed in the end."""
    made: list[Driver] = []

    def make(name: str, *given: Any, **options: Any) -> Driver:
        made.append(Driver(cluster, tmp_path / name, *given, **options))
        return made[-1]

    yield make
    for driver in made:
        driver.process.kill()
        driver.process.wait()


def test_each_new_run_gets_slots_of_those_that_hold_them_all(
    four_cpus: None, drivers: Any, until: Any
) -> None:
    first = drivers("first", 0.5, 10_000)
    first.wait_for(4)
    others = [drivers(name, 0.5, 10_000) for name in ("second", "third")]  # at the same moment
    for driver in others:
        driver.wait_for(8)
    begins = [driver.trials()[0][0] for driver in others]
    since = max(begins) + 1.0
    until(lambda: all(driver.trials()[-1][0] > since for driver in (first, *others)))
    assert first.process.poll() is None


@pytest.mark.full
def test_a_run_of_higher_priority_gets_each_next_slot_until_it_ends_or_is_killed(
    four_cpus: None, drivers: Any
) -> None:
    low = drivers("low", 0.5, 10_000)
    low.wait_for(4)
    high = drivers("high", 0.5, 12, priority=5)
    high.process.wait(300)
    begins = [begin for begin, _ in high.trials()]
    assert len(begins) == 12
    # from the fourth on it has all slots; before, a trial of the other may just be on its way to a node
    assert [begin for begin, _ in low.trials() if begins[3] < begin < begins[-4]] == []
    low.wait_for(len(low.trials()) + 8)  # and then all slots are its own again
    other = drivers("other", 0.5, 10_000, priority=5)
    other.wait_for(12)  # it has all, and waits for more
    other.process.kill()
    low.wait_for(len(low.trials()) + 8)


@pytest.mark.parametrize("end", [pytest.param(signal.SIGSTOP, marks=pytest.mark.full), signal.SIGKILL])
def test_others_share_on_when_the_driver_that_made_the_register_ends_or_stops(
    four_cpus: None, drivers: Any, end: signal.Signals
) -> None:
    first = drivers("first", 0.4, 10_000)
    first.wait_for(4)
    second = drivers("second", 0.4, 10_000)
    second.wait_for(4)
    first.process.send_signal(end)
    third = drivers("third", 0.4, 10_000)
    third.wait_for(4)
    second.wait_for(len(second.trials()) + 8)
    third.wait_for(len(third.trials()) + 8)


@pytest.mark.full
def test_a_large_trial_is_not_passed_by_small_ones_for_ever(
    four_cpus: None, drivers: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    small = drivers("small", 0.4, 10_000)
    small.wait_for(5)
    run = search(engine(), seen, tmp_path, config={"s": 0.2}, num_samples=2, resources_per_trial={"cpu": 3})
    assert [trial.status for trial in run.wait(timeout_s=300).trials] == ["TERMINATED"] * 2
    small.wait_for(len(small.trials()) + 5)
