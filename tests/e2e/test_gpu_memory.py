"""Trials that share a GPU by memory: real processes, and a GPU that exists in files."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.cli import main
from overtone.engines.local import Local
from overtone.testing.fake_gpus import FakeGpus

GB = 10**9
OTHER = 1  # the pid of another user's process


def run(
    gpus: FakeGpus, train: Any, memory: Any, folder: Path, knows_pids: bool = True, **options: Any
) -> Any:
    with gpus.installed(knows_pids):
        return tune.run(
            train,
            resources_per_trial={"cpu": 0.1, "gpu_memory": memory},
            storage_path=str(folder),
            name="exp",
            verbose=0,
            raise_on_failed_trial=False,
            engine=Local(cpus=4, gpus=len(gpus.sizes)),
            **options,
        )


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    text = (folder / "exp" / "journal.jsonl").read_text().splitlines()
    return [one for one in map(json.loads, text) if one["e"] == kind]


def most_at_once(folder: Path) -> int:
    text = (folder / "exp" / "journal.jsonl").read_text().splitlines()
    now = most = 0
    for kind in (json.loads(one)["e"] for one in text):
        now += {"started": 1, "ended": -1}.get(kind, 0)
        most = max(most, now)
    return most


@pytest.mark.parametrize("knows_pids", [True, False], ids=["pids", "container"])
def test_auto_measures_the_first_and_shares_from_then_on(tmp_path: Path, knows_pids: bool) -> None:
    gpus = FakeGpus(tmp_path / "gpus", [8e9], late=1)
    first = tmp_path / "first"

    def train(config: dict[str, Any]) -> None:
        gpus.allocate(0, 1.5 * GB)
        if first.exists():
            (tmp_path / f"up{os.getpid()}").touch()
            while len(list(tmp_path.glob("up*"))) < 2:  # until a second one is there, too
                time.sleep(0.01)
        else:
            gpus.wait_until_seen()
            first.touch()
        tune.report({"x": 1, "gpu": os.environ["CUDA_VISIBLE_DEVICES"]})

    found = run(gpus, train, "auto", tmp_path, knows_pids, num_samples=4, reuse_actors=True)
    assert [one.status for one in found.trials] == ["TERMINATED"] * 4
    assert {one.last_result["gpu"] for one in found.trials} == {"0"}
    if knows_pids:
        assert lines(tmp_path, "ended")[0]["gpu_memory"] == 1.5e9
    assert most_at_once(tmp_path) > 1


def test_out_of_memory_goes_on_from_the_last_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gpus = FakeGpus(tmp_path / "gpus", [8e9])

    def train(config: dict[str, Any]) -> None:
        state = tune.get_checkpoint()
        begin = 1 + int(state.to_dict()["step"]) if state else 1
        for step in range(begin, 4):
            if step == 3 and not (tmp_path / "out").exists():
                (tmp_path / "out").touch()
                gpus.allocate(0, 9 * GB)
            tune.report({"x": step, "begin": begin}, checkpoint=tune.Checkpoint.from_dict({"step": step}))

    found = run(gpus, train, "2GB", tmp_path)
    (trial,) = found.trials
    assert (trial.status, trial.last_result["begin"], trial.num_failures) == ("TERMINATED", 3, 0)
    assert not (tmp_path / "exp" / trial.trial_id / "error.txt").exists()
    assert main(["why", str(tmp_path / "exp"), "0"]) == 0
    shown = capsys.readouterr().out
    assert "ran out of GPU memory with 1.86 GiB; next, 2.79 GiB" in shown
    with gpus.installed():
        again = tune.run(
            train, storage_path=str(tmp_path), name="exp", resume=True, verbose=0,
            resources_per_trial={"cpu": 0.1, "gpu_memory": "2GB"}, engine=Local(cpus=4, gpus=1),
        )  # fmt: skip
    assert [one.status for one in again.trials] == ["TERMINATED"]


def test_out_of_memory_again_and_again_is_a_failure(tmp_path: Path) -> None:
    gpus = FakeGpus(tmp_path / "gpus", [8e9])

    def train(config: dict[str, Any]) -> None:
        gpus.allocate(0, 9 * GB)

    (trial,) = run(gpus, train, "2GB", tmp_path).trials
    assert trial.status == "ERROR"
    assert len(lines(tmp_path, "ended")) == 3
    assert "CUDA out of memory" in (tmp_path / "exp" / trial.trial_id / "error.txt").read_text()


def test_others_are_waited_for_and_memory_that_comes_back_late(tmp_path: Path) -> None:
    gpus = FakeGpus(tmp_path / "gpus", [8e9], late=3)
    gpus.hold(0, OTHER, 5 * GB)

    def train(config: dict[str, Any]) -> None:
        gpus.allocate(0, 2 * GB)
        if config["n"] == 0:
            gpus.hold(0, OTHER, 0)
        if config["n"] == 1 and not (tmp_path / "killed").exists():
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        tune.report({"x": 1})

    found = run(gpus, train, "2.5GB", tmp_path, config=[{"n": n} for n in range(4)])
    assert [one.status for one in found.trials] == ["TERMINATED"] * 4
    assert [one.num_failures for one in found.trials] == [0] * 4
    assert not [one for one in lines(tmp_path, "ended") if one["cause"] == "out_of_memory"]
    capacities = lines(tmp_path, "capacity_changed")
    assert capacities[0]["nodes"]["local"]["gpu_memory_taken:0"] >= 5 * GB
    assert len(capacities) > 1
