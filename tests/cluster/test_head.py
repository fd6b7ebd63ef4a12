"""The head of the cluster is gone while a driver runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LIMIT_S = 30
"""Ray ends the driver after this time; the driver notices after a few seconds, on a busy machine later."""

SCRIPT = """
import sys
import time
from pathlib import Path
from overtone import tune

class Steps(tune.Trainable):
    def setup(self, config):
        self.n = 0
    def step(self):
        time.sleep(0.1)
        self.n += 1
        Path(sys.argv[1], "runs").touch()
        return {"n": self.n, "loss": -self.n, "done": Path(sys.argv[1], "may_end").exists() or self.n == self.config["n"]}
    def save_checkpoint(self, folder):
        Path(folder, "n").write_text(str(self.n))
    def load_checkpoint(self, folder):
        self.n = int(Path(folder, "n").read_text())

tune.run(
    Steps, config={"n": tune.grid_search([40, 100000])}, checkpoint_freq=5, metric="loss", mode="min", engine="ray",
    name="headless", storage_path=sys.argv[1], resources_per_trial={"cpu": 1}, resume="AUTO",
)
"""


@pytest.mark.full
def test_a_driver_says_that_the_head_is_gone_before_ray_ends_it(
    cluster: Any, started: Any, until: Any, tmp_path: Path
) -> None:
    limit = {"RAY_gcs_rpc_server_reconnect_timeout_s": str(LIMIT_S)}
    doomed = started(6397, "--num-cpus=2", "--include-dashboard=false", **limit)
    log, path = tmp_path / "said", tmp_path / "script.py"
    path.write_text(SCRIPT)
    script = doomed.begin(log, "python", str(path), str(tmp_path))
    until((tmp_path / "runs").exists)
    doomed.head().kill()
    assert script.wait(LIMIT_S + 300) != 0
    line = next(one for one in log.read_text().splitlines() if "unreachable since" in one)
    told = re.search(
        rf"head [\d.]+:6397 unreachable since \d\d:\d\d:\d\d; .* {LIMIT_S} s .*`overtone resume (.*)`", line
    )
    assert told is not None
    assert Path(told[1]) == tmp_path / "headless"
    (tmp_path / "may_end").touch()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("overtone")), "resume", told[1]],
        env={**os.environ, "RAY_ADDRESS": cluster.address}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "2 TERMINATED" in done.stdout + done.stderr
