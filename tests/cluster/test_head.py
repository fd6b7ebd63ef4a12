"""The head of the cluster is gone while a driver runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

LIMIT_S = 20

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


@pytest.mark.timeout(240)
def test_a_driver_says_that_the_head_is_gone_before_ray_ends_it(
    started: Any, until: Any, tmp_path: Path
) -> None:
    limit = {"RAY_gcs_rpc_server_reconnect_timeout_s": str(LIMIT_S)}
    cluster = started(6397, "--num-cpus=2", "--include-dashboard=false", **limit)
    log, path = tmp_path / "said", tmp_path / "script.py"
    path.write_text(SCRIPT)
    script = cluster.begin(log, "python", str(path), str(tmp_path))
    until((tmp_path / "runs").exists)
    cluster.head().kill()
    until(lambda: "unreachable since" in log.read_text(), LIMIT_S - 5)
    assert script.poll() is None
    assert script.wait(LIMIT_S + 30) != 0
    line = next(one for one in log.read_text().splitlines() if "unreachable since" in one)
    told = re.search(
        r"head 127.0.0.1:6397 unreachable since \d\d:\d\d:\d\d; .* 20 s .*`overtone resume (.*)`", line
    )
    assert told is not None
    assert Path(told[1]) == tmp_path / "headless"
    cluster.stop()
    cluster.start()
    (tmp_path / "may_end").touch()
    done = cluster.run("overtone", "resume", told[1])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "2 TERMINATED" in done.stdout + done.stderr
