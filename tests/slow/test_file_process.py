"""The files of trials, written by a process beside the run, and by the driver where that cannot be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overtone import tune
from overtone.observers import helper_processes, projections
from overtone.observers.files import file_process
from overtone.testing.engine_disasters import is_gone


@pytest.fixture(autouse=True)
def at_once(monkeypatch) -> None:
    """Have the process begin with the run."""
    monkeypatch.setattr(file_process, "START_AFTER_S", 0.0)


def train(config) -> None:
    for t in range(20):
        tune.report({"loss": config["x"] / (t + 1), **({"late": t} if t > 10 else {})})


def search(folder: Path, name: str, **options):
    config = {"x": tune.uniform(0, 1), "kind": tune.choice(["a", "b"]), "layers": [1, 2]}
    return tune.run(
        train, config=config, num_samples=4, metric="loss", mode="min", seed=3, storage_path=str(folder), name=name,
        tensorboard=False, verbose=0, **options,
    )  # fmt: skip


def facts(folder: Path) -> dict[str, object]:
    """What the files hold, without what differs from run to run."""
    found: dict[str, object] = {}
    for trial in folder.glob("*/params.json"):
        results = [json.loads(line) for line in (trial.parent / "result.json").read_text().splitlines()]
        rows = (trial.parent / "progress.csv").read_text().splitlines()
        found[trial.parent.name] = (
            trial.read_text(),
            [(one["loss"], one.get("late"), one["config"], one["experiment_tag"]) for one in results],
            (rows[0], [row.split(",")[0] for row in rows]),
        )
    return found


def test_the_files_are_those_that_the_driver_would_write(tmp_path) -> None:
    search(tmp_path, "apart")
    search(tmp_path, "here", callbacks=[tune.Callback()])
    assert len(facts(tmp_path / "here")) == 4
    assert facts(tmp_path / "apart") == facts(tmp_path / "here")


@pytest.mark.parametrize("is_reaped", [False, True], ids=["alone", "reaped by somebody else"])
def test_a_killed_process_costs_no_line(tmp_path, monkeypatch, capfd, is_reaped) -> None:
    """The run goes on, says so once, and brings the files to the journal's length at its end."""
    monkeypatch.setattr(helper_processes, "LOOK_EVERY_S", 0.0)
    killed: list[int] = []
    flush = file_process.FileWriter.flush

    def flush_and_kill(observer) -> None:
        flush(observer)
        if observer._process is not None and not killed:
            killed.append(observer._process.pid)
            os.kill(killed[0], signal.SIGKILL)
            os.waitid(os.P_PID, killed[0], os.WEXITED | (0 if is_reaped else os.WNOWAIT))

    monkeypatch.setattr(file_process.FileWriter, "flush", flush_and_kill)
    search(tmp_path, "exp")
    assert len(killed) == 1
    said = capfd.readouterr().err
    assert said.count("cannot be written: its process ended") == 1
    assert ("exit code -9" in said) is not is_reaped  # else nobody knows how it ended
    assert "brought to the length of the journal" in said
    search(tmp_path, "whole")
    assert facts(tmp_path / "exp") == facts(tmp_path / "whole")


@pytest.mark.parametrize("options", [{}, {"callbacks": [tune.Callback()]}], ids=["apart", "driver"])
@pytest.mark.parametrize("is_late", [False, True], ids=["results follow", "at the end"])
@pytest.mark.parametrize("name", ["result.json", "progress.csv", "params.json"])
def test_a_file_that_somebody_deletes_or_cuts_is_whole_at_the_end(
    tmp_path, capfd, name, is_late, options
) -> None:
    def train(config) -> None:
        for _ in range(5):
            tune.report({"loss": config["x"]})
        folder = Path(tune.get_context().get_trial_dir())
        give_up_at = time.monotonic() + 90.0
        while (
            not (has_all(folder, 5) and (folder / "params.json").exists()) and time.monotonic() < give_up_at
        ):
            time.sleep(0.02)
        if config["cuts"]:
            os.truncate(folder / name, 10)
        else:
            (folder / name).unlink()
        for _ in range(0 if is_late else 5):
            tune.report({"loss": config["x"]})

    tune.run(
        train, config={"x": 1.0, "cuts": tune.grid_search([False, True])}, storage_path=str(tmp_path), name="exp",
        tensorboard=False, verbose=0, **options,
    )  # fmt: skip
    trials = [one.parent for one in (tmp_path / "exp").glob("*/params.json")]
    assert len(trials) == 2
    assert all(has_all(folder, 5 if is_late else 10) for folder in trials)
    assert all(json.loads((folder / "params.json").read_text())["x"] == 1.0 for folder in trials)
    said = capfd.readouterr().err
    assert f"{name} was deleted or cut during the run" in said
    assert "brought to the length of the journal" in said


def has_all(folder: Path, n_results: int) -> bool:
    """Whether result.json and progress.csv of a trial hold so many results."""
    try:
        lines = (folder / "result.json").read_text().splitlines()
        rows = (folder / "progress.csv").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) == n_results and len(rows) == n_results + 1 and "loss" in rows[0]


@pytest.mark.parametrize(
    "config", [{"f": tune.choice([len, abs])}, {"f": tune.sample_from(lambda _: len)}, {"f": (1, 2)}]
)
def test_values_that_are_not_data_are_shown_by_the_driver(tmp_path, monkeypatch, config) -> None:
    monkeypatch.setattr(projections, "FileWriter", None)  # it would fail

    def once(config) -> None:
        tune.report({"loss": 1.0})

    tune.run(once, config=config, storage_path=str(tmp_path), name="exp", verbose=0)
    (params,) = (tmp_path / "exp").glob("*/params.json")
    assert json.loads(params.read_text())["f"] in ([1, 2], {"__repr__": repr(len)}, {"__repr__": repr(abs)})


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_no_process_is_left_when_the_driver_is_killed(tmp_path) -> None:
    """Neither one that follows, nor one that is stopped."""
    program = f"""
import time
from overtone import tune
from overtone.observers.files import file_process
file_process.START_AFTER_S = 0.0
def train(config):
    for t in range(100_000):
        tune.report({{"loss": t}})
        time.sleep(0.01)
tune.run(train, storage_path={str(tmp_path)!r}, name="exp", verbose=0)
"""
    driver = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    try:
        (helper,) = within(60.0, lambda: helpers_of(driver.pid))
        within(60.0, lambda: list((tmp_path / "exp").glob("*/result.json")))
        os.kill(helper, signal.SIGSTOP)
    finally:
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    assert is_gone(helper)


def helpers_of(driver: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == driver and "file_process import main" in words:
            found.append(int(entry.name))
    return found


def within(seconds: float, ask):
    deadline = time.monotonic() + seconds
    while not (found := ask()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
