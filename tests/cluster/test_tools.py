"""Ray's own tools show a run and its trials."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

NODE = r"\d+\.\d+\.\d+\.\d+"  # the machine's own address, or 127.0.0.1 where it has no other

SCRIPT = """
import sys
import time
from pathlib import Path
from overtone import tune

folder, name = sys.argv[1:]

def train(config):
    while not Path(config["folder"], "may_end").exists():
        time.sleep(0.1)
        tune.report(loss=0.0)

tune.run(
    tune.with_resources(train, {"cpu": 1}, ray=name == "actor"), num_samples=2,
    config={"folder": folder}, metric="loss", mode="min",
    engine="ray", name=name, storage_path=folder, trial_name_creator=lambda trial: f"trial-{trial.index}",
)
"""


def figure(port: int, run: str, name: str) -> float:
    """The value of a metric of a run on a node; -1 for none."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
    line = re.search(rf'^ray_{name}{{([^}}]*run="{run}"[^}}]*)}} (.*)$', text, re.MULTILINE)
    return float(line[2]) if line is not None and re.search(rf'node="{NODE}"', line[1]) else -1.0


@pytest.mark.full
def test_runs_and_their_trials_are_shown(started: Any, until: Any, tmp_path: Path) -> None:
    # The agent's port: its default is that of the cluster of the other tests.
    ports = ("--dashboard-port=8398", "--metrics-export-port=8399", "--dashboard-agent-listen-port=8397")
    cluster = started(6398, "--num-cpus=4", *ports)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    logs = {name: tmp_path / f"said-{name}" for name in ("forked", "actor")}
    scripts = {
        name: cluster.begin(log, "python", str(path), str(tmp_path), name) for name, log in logs.items()
    }

    def log(run: str) -> str:
        """What `ray logs` shows; the command takes seconds."""
        (file,) = cluster.sessions.glob(f"ray/session_2*/logs/overtone-{run}.log")
        return str(file.read_text())

    until(lambda: len(list(cluster.sessions.glob("ray/session_2*/logs/overtone-*.log"))) == 2)
    for run in scripts:
        until(lambda run=run: re.search(rf"\b{NODE} trial-0 trial-1", log(run)))
        until(lambda run=run: figure(8399, run, "overtone_running_trials") == 2)
        until(lambda run=run: figure(8399, run, "overtone_results_per_second") > 0)
    said = cluster.run("ray", "list", "actors", "--address", cluster.address, "--detail", "--format", "json")
    found: list[dict[str, Any]] = json.loads(said.stdout[said.stdout.find("[") :])
    # The register, through which runs share the cluster, is an actor, too.
    shown = [one for one in found if one["state"] == "ALIVE" and one["name"].startswith("overtone ")]
    names = sorted(one["name"] for one in shown)
    assert [re.sub(r" (\w{6}-\d|[\d.]+ \w{6}-\d)$", "", name) for name in names] == [
        "overtone actor trial-0", "overtone actor trial-1", "overtone forked",
    ]  # fmt: skip
    assert "overtone forked" in {one["repr_name"] for one in shown}

    listed = cluster.run("ray", "logs", "overtone-forked.log", "--address", cluster.address)
    assert "forked: 2 trials running at 20" in listed.stdout
    (tmp_path / "may_end").touch()
    for run, script in scripts.items():
        assert script.wait(300) == 0, logs[run].read_text()[-2000:]
        assert "0 trials running" in log(run)
