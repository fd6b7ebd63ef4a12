"""Trials that share a GPU by memory, when the driver is killed: the memory of a GPU that exists in files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from overtone import tune
from tests.integrations.programs import await_that

SIZE_GB = 8.0
NEEDS = (1.5, 3.0, 2.0, 2.5, 1.5, 3.0, 2.0, 2.5, 3.0, 1.5, 2.0, 2.5)

DRIVER = """
import os, sys, time
from overtone import tune
from overtone.engines.local import Local
from overtone.testing.fake_gpus import FakeGpus

gpus = FakeGpus(os.path.join(sys.argv[1], "gpus"), [8e9], late=1)

def train(config):
    state = tune.get_checkpoint()
    first = state.to_dict()["t"] if state else 0
    for t in range(first + 1, 5):
        if t == first + 1:
            gpus.allocate(0, config["need"] * 1e9 / 2)
        elif t == first + 2:  # the second half after the first result
            gpus.allocate(0, config["need"] * 1e9 / 2)
            gpus.wait_until_seen()
        time.sleep(config["pause_s"])
        tune.report({"t": t, "first": first}, checkpoint=tune.Checkpoint.from_dict({"t": t}))

with gpus.installed():
    tune.run(
        train, config=[{"need": float(need), "pause_s": 0.3} for need in sys.argv[2:]], storage_path=sys.argv[1],
        name="exp", resume="AUTO", resources_per_trial={"cpu": 0.1, "gpu_memory": "auto"}, verbose=0,
        engine=Local(cpus=4, gpus=1), raise_on_failed_trial=False,
    )
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    script = folder / "driver.py"
    script.write_text(DRIVER)
    return subprocess.Popen([sys.executable, str(script), str(folder), *map(str, NEEDS)])


def records(folder: Path) -> list[dict]:
    """Return the whole records of the journal; the last one may be torn."""
    path = folder / "exp/journal.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().split("\n")[1:-1]]


def promised(folder: Path) -> tuple[float, float, int]:
    """Return the most bytes that are reserved at a time, the largest part of the GPU, and the most trials."""
    demands: dict[str, dict[str, float]] = {}
    running: dict[str, dict[str, float]] = {}
    memory, share, at_once = 0.0, 0.0, 0
    for record in records(folder):
        for choice in record.get("choices", ()):
            if "resources" in choice:
                (bundle,) = choice["resources"]["bundles"]
                demands[choice["trial_id"]] = dict(bundle)
            if choice.get("status") == "STARTING":
                running[choice["trial_id"]] = demands[choice["trial_id"]]
            elif choice.get("status") not in (None, "RUNNING"):
                running.pop(choice["trial_id"], None)
        memory = max(memory, sum(one.get("gpu_memory", 0.0) for one in running.values()))
        share = max(share, sum(one["gpu"] for one in running.values()))
        at_once = max(at_once, len(running))
    return memory, share, at_once


def test_out_of_memory_and_a_killed_driver(tmp_path: Path) -> None:
    """No trial fails, none runs out of memory more than twice, and no more is promised than there is."""
    for n_results in (12, 30):  # after so many results the driver is killed
        driver = start(tmp_path)
        try:
            await_that(lambda least=n_results: n_reported(tmp_path) >= least, f"{n_results} results")
        finally:
            driver.send_signal(signal.SIGKILL)
            driver.wait()
    assert start(tmp_path).wait(600) == 0
    trials = tune.ExperimentAnalysis(str(tmp_path / "exp")).trials
    assert [trial.status for trial in trials] == ["TERMINATED"] * len(NEEDS)
    assert [trial.num_failures for trial in trials] == [0] * len(NEEDS)
    for trial in trials:
        assert [result["t"] for result in trial.results()] == [1, 2, 3, 4]
    ends = [one for one in records(tmp_path) if one["e"] == "ended"]
    excesses = Counter(one["trial_id"] for one in ends if one["cause"] == "out_of_memory")
    assert max(excesses.values(), default=0) <= 2
    memory, share, at_once = promised(tmp_path)
    assert 0 < memory <= SIZE_GB * 1e9
    assert share <= 1
    assert at_once >= 2
    assert not [one for one in os.listdir(tmp_path / "gpus" / "0") if os.path.exists(f"/proc/{one}")]


def n_reported(folder: Path) -> int:
    return sum(one["e"] == "reported" for one in records(folder))
