"""Trials that somebody kills, and trials past a limit: on real processes, with the whole run around them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core.messages import Ended, Record, Started
from overtone.core.protocols import Observer
from overtone.engines.local import Local
from overtone.testing.resource_hogs import hungry
from overtone.worker.session.current import current

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and reads /proc")


class Counts(tune.Trainable):
    """Counts to `n`; the trial of the file `at` waits there for its signal."""

    def setup(self, config: dict[str, Any]) -> None:
        self.t = 0

    def step(self) -> dict[str, Any]:
        self.t += 1
        if self.t == 3 and not Path(self.config["at"]).exists():
            Path(self.config["at"]).write_text(str(os.getpid()))
            while not current().notice.is_given:
                time.sleep(0.01)
        return {"loss": 1.0 / self.t, "count": self.t, "done": self.t >= self.config["n"]}

    def save_checkpoint(self, folder: str) -> dict[str, Any]:
        return {"t": self.t}

    def load_checkpoint(self, data: dict[str, Any]) -> None:
        self.t = data["t"]


class Seen(Observer):
    """What happened, and when."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_record(self, record: Record) -> None:
        self.events.append(record.event)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def send(signum: int, at: Path) -> threading.Thread:
    """Send a signal to the process whose pid appears in the file `at`."""

    def wait() -> None:
        while not at.exists() or not at.read_text():
            time.sleep(0.005)
        os.kill(int(at.read_text()), signum)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def run(trainable: Any, **arguments: Any) -> tuple[Any, Seen]:
        seen = Seen()
        options = {"verbose": 0, "tensorboard": False, "storage_path": tmp_path, "callbacks": [seen]}
        return tune.run(trainable, **{**options, **arguments}), seen

    return run


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_trial_runs_again_from_its_checkpoint_though_the_machine_is_full(
    signum: int, run: Any, tmp_path: Path
) -> None:
    at = tmp_path / "pid"
    is_noticed = signum == signal.SIGTERM
    thread = send(signum, at)
    found, seen = run(
        Counts,
        config={"at": str(at), "n": 6},
        num_samples=3,  # two wait
        max_concurrent_trials=1,
        checkpoint_freq=0 if is_noticed else 1,
    )
    thread.join()
    (lost,) = [event for event in seen.of(Ended) if event.cause == "lost"]
    first, again = seen.of(Started)[:2]
    assert first.trial_id == again.trial_id == lost.trial_id
    assert again.restored.t >= 3 if is_noticed else again.restored.t == 2
    assert [(trial.status, trial.last_result["count"]) for trial in found.trials] == [("TERMINATED", 6)] * 3


def killed_often(config: dict[str, Any]) -> None:
    tune.report({"loss": 1.0})
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_trial_that_is_killed_again_and_again_ends(run: Any) -> None:
    found, seen = run(killed_often, raise_on_failed_trial=False)
    assert [event.cause for event in seen.of(Ended)] == ["lost"] * 3
    (trial,) = found.trials
    assert trial.status == "ERROR"
    with pytest.raises(tune.TuneError, match="lost 3 times in a row without a new result.*memory"):
        run(killed_often)


def crashes(config: dict[str, Any]) -> None:
    tune.report({"loss": 1.0})
    os._exit(3) if config["how"] == "exit" else signal.raise_signal(signal.SIGABRT)


def test_a_crash_is_a_failure_and_is_tried_again_as_often_as_allowed(run: Any) -> None:
    found, seen = run(
        crashes,
        config={"how": tune.grid_search(["exit", "abort"])},
        max_failures=1,
        raise_on_failed_trial=False,
    )
    assert [event.cause for event in seen.of(Ended)] == ["killed"] * 4
    assert [trial.status for trial in found.trials] == ["ERROR"] * 2


def handles_sigterm(config: dict[str, Any]) -> None:
    session = current()
    session.should_checkpoint()  # so that Overtone would like to know of a SIGTERM, too
    tries = Path(config["tries"])

    def on_sigterm(signum: int, frame: object) -> None:
        tries.write_text(tries.read_text() + " handled")
        sys.exit(143)

    signal.signal(signal.SIGTERM, on_sigterm)
    tries.write_text(f"{tries.read_text()} ran" if tries.exists() else "ran")
    tune.report({"loss": 1.0})
    if tries.read_text() == "ran":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(600)


def test_a_handler_of_the_users_own_is_called_and_its_exit_is_no_failure(run: Any, tmp_path: Path) -> None:
    _, seen = run(handles_sigterm, config={"tries": str(tmp_path / "tries")})
    assert (tmp_path / "tries").read_text() == "ran handled ran"
    assert [event.cause for event in seen.of(Ended)] == ["lost", "returned"]


# to start a process anew takes CPU time, too
@pytest.mark.parametrize(("method", "cpu_s"), [("warm", 1.0), ("spawn", 2.0)])
def test_trials_past_a_limit_end_and_the_search_goes_on(method: Any, cpu_s: float, run: Any) -> None:
    whats = ["spins", "holds_the_gil", "hogs", "child_hogs", "nothing"]
    found, seen = run(
        hungry,
        config={"what": tune.grid_search(whats)},
        engine=Local(cpus=len(whats), start_method=method),
        trial_limits={"cpu_s": cpu_s, "memory": "300MB", "time_s": 100},
        max_failures=5,  # past a limit nothing is tried again
        raise_on_failed_trial=False,
    )
    ends = {trial.config["what"]: trial.status for trial in found.trials}
    assert ends == {**dict.fromkeys(whats, "ERROR"), "nothing": "TERMINATED"}
    assert sorted(event.cause for event in seen.of(Ended)) == ["limit"] * 4 + ["returned"]
    errors = [event.error for event in seen.of(Ended) if event.error]
    assert any(f"s of CPU time, limit {cpu_s:g} s" in error for error in errors)
    assert any("MB of memory, limit 300 MB" in error for error in errors)


def test_limits_are_each_trials_own_where_processes_are_used_again(run: Any) -> None:
    def works(config: dict[str, Any]) -> dict[str, Any]:
        end = time.process_time() + config["cpu_s"]
        while time.process_time() < end:
            pass
        return {"pid": os.getpid()}

    found, _ = run(
        works,
        config={"cpu_s": tune.grid_search([0.3, 0.3, 0.3, 600.0])},
        engine=Local(cpus=1),
        reuse_actors=True,
        trial_limits={"cpu_s": 0.7},
        raise_on_failed_trial=False,
    )
    assert [trial.status for trial in found.trials] == ["TERMINATED"] * 3 + ["ERROR"]
    assert len({trial.last_result["pid"] for trial in found.trials[:3]}) == 1


def test_limits_that_are_none_are_told_at_once(run: Any) -> None:
    with pytest.raises(ValueError, match="trial_limits has no limit 'mem'"):
        run(hungry, trial_limits={"mem": "2GB"})
    with pytest.warns(UserWarning, match="trial_limits=.* has no effect with engine='inline'"):
        run(hungry, config={"what": "nothing"}, trial_limits={"time_s": 9}, engine="inline")


def test_the_simulated_engine_ends_trials_in_virtual_time(run: Any) -> None:
    def curve(config: dict[str, Any], t: int) -> Any:
        return {"loss": 1.0 / t}, config["pace_s"]

    found, seen = run(
        curve,
        config={"pace_s": tune.grid_search([1.0, 4.0])},
        stop={"training_iteration": 5},
        engine="simulated",
        trial_limits={"time_s": 10.0},
        raise_on_failed_trial=False,
    )
    assert [(trial.status, trial.last_result["training_iteration"]) for trial in found.trials] == [
        ("TERMINATED", 5), ("ERROR", 2)
    ]  # fmt: skip
    assert [event.time for event in seen.of(Ended) if event.cause == "limit"] == [10.0]
