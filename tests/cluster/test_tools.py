"""Ray's own tools show a run and its trials."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import sys
import time
from pathlib import Path
from overtone import tune

def train(config):
    while not Path(config["folder"], "may_end").exists():
        time.sleep(0.1)
        tune.report(loss=0.0)

tune.run(
    tune.with_resources(train, {"cpu": 1}, ray=sys.argv[2] == "actor"), num_samples=2,
    config={"folder": sys.argv[1]}, metric="loss", mode="min",
    engine="ray", name="shown", storage_path=sys.argv[1], trial_name_creator=lambda trial: f"trial-{trial.index}",
)
"""


def figure(port: int, name: str) -> float:
    """The value of a metric of the run on a node; -1 for none."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    line = re.search(rf'^ray_{name}{{([^}}]*run="shown"[^}}]*)}} (.*)$', text, re.MULTILINE)
    return float(line[2]) if line is not None and 'node="127.0.0.1"' in line[1] else -1.0


@pytest.mark.timeout(400)
@pytest.mark.parametrize("kind", ["forked", "actor"])
def test_a_run_and_its_trials_are_shown(started: Any, until: Any, tmp_path: Path, kind: str) -> None:
    cluster = started(6398, "--num-cpus=2", "--dashboard-port=8398", "--metrics-export-port=8399")
    path, log = tmp_path / "script.py", tmp_path / "said"
    path.write_text(SCRIPT)
    script = cluster.begin(log, "python", str(path), str(tmp_path), kind)

    def actors() -> list[dict[str, Any]]:
        said = cluster.run(
            "ray", "list", "actors", "--address", cluster.address, "--detail", "--format", "json"
        )
        text = said.stdout[said.stdout.find("[") :]
        found: list[dict[str, Any]] = json.loads(text) if "[" in said.stdout else []
        return [one for one in found if one["state"] == "ALIVE"]

    count = 1 if kind == "forked" else 2
    shown = until(lambda: (found := actors()) and len(found) == count and found, 120)
    names = sorted(one["name"] for one in shown)
    if kind == "forked":
        assert re.fullmatch(r"overtone shown 127\.0\.0\.1 \w{6}-0", names[0])
        assert shown[0]["repr_name"] == "overtone shown"
    else:
        assert [re.sub(r" \w{6}-\d$", "", name) for name in names] == [
            "overtone shown trial-0",
            "overtone shown trial-1",
        ]

    def listed() -> str:
        said = cluster.run("ray", "logs", "overtone-shown.log", "--address", cluster.address)
        return said.stdout if said.returncode == 0 else ""

    until(lambda: "127.0.0.1 trial-0 trial-1" in listed(), 120)
    assert "shown: 2 trials running at 20" in listed()
    until(lambda: figure(8399, "overtone_running_trials") == 2)
    until(lambda: figure(8399, "overtone_results_per_second") > 5)
    (tmp_path / "may_end").touch()
    assert script.wait(60) == 0, log.read_text()[-2000:]
    assert "0 trials running" in listed()
