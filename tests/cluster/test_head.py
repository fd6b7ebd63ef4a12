"""The head of the cluster is gone while a driver runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

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

analysis = tune.run(
    Steps, config={"n": tune.grid_search([40, 100000])}, checkpoint_freq=5, metric="loss", mode="min", engine="ray",
    name="headless", storage_path=sys.argv[1], resources_per_trial={"cpu": 1}, resume="AUTO",
)
print("best", analysis.best_result["n"])
"""


class Cluster:
    """A head and its node, started by hand, with files of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sessions = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # sockets need a short path
        mine = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        self.environment = {
            **mine, "HOME": str(folder), "RAY_TMPDIR": self.sessions, "RAY_AUTH_MODE": "disabled",
            "RAY_gcs_rpc_server_reconnect_timeout_s": str(LIMIT_S),
        }  # fmt: skip
        self.started: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        ray = str(Path(sys.executable).with_name("ray"))
        self.started = subprocess.Popen(
            [
                ray, "start", "--head", "--block", "--node-ip-address=127.0.0.1", "--port=6397", "--num-cpus=2",
                "--object-store-memory=80000000", "--include-dashboard=false",
            ],
            env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(lambda: self.process("raylet"))

    def process(self, name: str) -> psutil.Process | None:
        assert self.started is not None
        children = psutil.Process(self.started.pid).children(recursive=True)
        return next((one for one in children if one.name() == name), None)

    def stop(self) -> None:
        if self.started is None:
            return
        for one in [
            *psutil.Process(self.started.pid).children(recursive=True),
            psutil.Process(self.started.pid),
        ]:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                pass
        self.started.wait()
        self.started = None

    def script(self, said: Path) -> subprocess.Popen[bytes]:
        path = self.folder / "script.py"
        path.write_text(SCRIPT)
        with said.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, str(path), str(self.folder)], stdout=log, stderr=log,
                env={**self.environment, "RAY_ADDRESS": "127.0.0.1:6397"},
            )  # fmt: skip


def until(is_so: Any, within_s: float = 60) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.stop()
    shutil.rmtree(made.sessions, ignore_errors=True)


@pytest.mark.timeout(240)
def test_a_driver_says_that_the_head_is_gone_before_ray_ends_it(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start()
    log = tmp_path / "said"
    script = cluster.script(log)
    until((tmp_path / "runs").exists)
    head = cluster.process("gcs_server")
    assert head is not None
    head.kill()
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
    resumed = [str(Path(sys.executable).with_name("overtone")), "resume", told[1]]
    done = subprocess.run(
        resumed, env={**cluster.environment, "RAY_ADDRESS": "127.0.0.1:6397"}, capture_output=True, text=True, timeout=90
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "2 TERMINATED" in done.stdout + done.stderr
