"""Hosts with an address, processes, memory and folders of their own: one is cut off, and then it is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

ADDRESS = {"head": "10.0.0.1", "other": "10.0.0.2", "stranger": "10.0.0.3"}  # as in articles
NAMESPACES = ("--net", "--mount", "--pid", "--uts", "--ipc")
STEPS = 60
LARGE_BYTES = 40_000_000
"""The large parameter of `SCRIPT`."""

HOST = """
set -e
hostname "$1"
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs "$2"
ip link set lo up
echo up
while true; do sleep 1000 & wait; done
"""
"""The first process of a host, which also buries what others leave."""

MODEL = """
import time
from pathlib import Path
from overtone import tune

class Steps(tune.Trainable):
    def setup(self, config, data):
        assert data.sum() == 5_000_000
        self.n = 0
    def step(self):
        time.sleep(0.1)
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": self.n >= self.config["steps"]}
    def save_checkpoint(self, folder):
        Path(folder, "n").write_text(str(self.n))
    def load_checkpoint(self, folder):
        self.n = int(Path(folder, "n").read_text())
"""
SCRIPT = """
import sys
import numpy as np
from model import Steps
from overtone import tune

large = tune.with_parameters(Steps, data=np.ones(5_000_000))
tune.run(large, config={"steps": int(sys.argv[2])}, num_samples=4, checkpoint_freq=5, metric="loss", mode="min",
         name="hosts", storage_path=sys.argv[1], resources_per_trial={"cpu": 1})
"""

STRANGER = """
import sys, time
import ray
from overtone import tune
from overtone.errors import OvertoneError

for attempt in range(3):
    begun = time.monotonic()
    try:
        tune.run(lambda config: tune.report(loss=0), engine=tune.ray_cluster(sys.argv[1]), metric="loss", mode="min")
    except OvertoneError:
        took = time.monotonic() - begun
        print("refused after", took, "s", flush=True)
        if took < 5 or attempt == 2:  # a busy machine may be slow once
            raise
"""

QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}


class Host:
    """One machine, as far as its processes see.

    Args:
        name: Its name.
        folder: Where its temporary files and results lie: the same path on each host, and not the same disk.
        log: What its commands print.
    """

    def __init__(self, name: str, folder: Path, log: Path) -> None:
        self.name, self.folder, self.log = name, folder, log
        self._first = subprocess.Popen(
            [
                "unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc",
                "bash", "-c", HOST, "host", name, str(folder),
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._first.stdout is not None
        assert self._first.stderr is not None
        if self._first.stdout.readline() != "up\n":
            reason = self._first.stderr.read().strip()
            self.kill()
            pytest.skip(f"hosts need namespaces, which are not permitted here: {reason}")
        task = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children")
        self.pid = int(task.read_text())

    def connect(self, address: str, switch: Host) -> None:
        """Plug it into a switch."""
        switch.run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0")
        in_net("ip", "link", "set", "eth0", "netns", str(self.pid), of=switch)
        switch.run("ip", "link", "set", self.name, "master", "lan", "up")
        self.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "route", "add", "default", "dev", "eth0")

    def begin(self, *command: str) -> subprocess.Popen[bytes]:
        """A command that goes on there."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        mine = {"HOME": str(self.folder), "TMPDIR": str(self.folder), "RAY_TMPDIR": str(self.folder)}
        with self.log.open("ab") as log:
            return subprocess.Popen(
                ["nsenter", *NAMESPACES, "--target", str(self.pid), "env", "-C", str(self.folder), *command],
                env={**environment, **mine, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}, stdout=log, stderr=log,
            )  # fmt: skip

    def run(self, *command: str) -> None:
        """Run a command there, to its end."""
        with self.begin(*command) as process:
            assert process.wait(180) == 0, f"{self.name}: {command}\n{self.log.read_text()[-2000:]}"

    def path(self, name: str) -> Path:
        """Where a file of its folder is seen from outside."""
        return Path(f"/proc/{self.pid}/root{self.folder}", name)

    def shared_bytes(self) -> int:
        """How much shared memory is used there."""
        found = os.statvfs(f"/proc/{self.pid}/root/dev/shm")
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def commands(self) -> list[str]:
        """What runs there."""
        found = subprocess.run(
            ["nsenter", *NAMESPACES, "--target", str(self.pid), "ps", "-eo", "args="], capture_output=True, text=True
        )  # fmt: skip
        return found.stdout.splitlines()

    def kill(self) -> None:
        """End all its processes at once."""
        self._first.kill()
        self._first.communicate()


def in_net(*command: str, of: Host) -> None:
    subprocess.run(["nsenter", "--net", "--target", str(of.pid), *command], check=True, timeout=20)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Callable[[str], Host]]:
    """Makes one more host, on one network with the others."""
    if sys.platform != "linux":
        pytest.skip("hosts need Linux namespaces")
    with ExitStack() as made:
        folder = Path(tempfile.mkdtemp(prefix="ot", dir="/tmp"))  # sockets need a short path
        made.callback(folder.rmdir)

        def make(name: str) -> Host:
            one = Host(name, folder, tmp_path / f"{name}.log")
            made.callback(one.kill)
            if name in ADDRESS:
                one.connect(ADDRESS[name], switch)
            return one

        switch = make("switch")
        switch.run("ip", "link", "add", "lan", "type", "bridge")
        switch.run("ip", "link", "set", "lan", "up")
        yield make


def ray(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("ray")), *arguments]


def until(is_so: Callable[[], Any], what: str, within_s: float = 120) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"{what}: not within {within_s:g} s"
        time.sleep(0.1)
    return found


def test_trials_of_a_host_that_is_cut_off_go_on_elsewhere(host: Callable[[str], Host]) -> None:
    head, other = host("head"), host("other")
    limits = ["--num-cpus=2", "--object-store-memory=80000000"]
    head.run(
        *ray("start", "--head", "--node-ip-address", ADDRESS["head"], "--port=6379", "--redis-password=123",
            "--dashboard-host=0.0.0.0"),
        *limits, f"--system-config={json.dumps(QUICK)}",
    )  # fmt: skip
    other.run(*ray("start", f"--address={ADDRESS['head']}:6379", "--redis-password=123"), *limits)
    head.path("job").mkdir()
    head.path("job/model.py").write_text(MODEL)
    head.path("job/script.py").write_text(SCRIPT)
    script = head.begin(
        *ray("job", "submit", f"--address=http://{ADDRESS['head']}:8265", "--working-dir=job", "--"),
        sys.executable, "script.py", str(head.folder / "results"), str(STEPS),
    )  # fmt: skip

    def events(kind: str) -> list[dict[str, Any]]:
        journal = head.path("results/hosts/journal.jsonl")
        assert script.poll() in (None, 0)
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [one for line in lines for one in [json.loads(line)] if one["e"] == kind]

    until(lambda: len(events("started")) == 4, "all trials run")
    there = {one["trial_id"] for one in events("started") if one["node"] == ADDRESS["other"]}
    assert len(there) == 2

    def are_far() -> bool:
        return there <= {one["trial_id"] for one in events("reported") if one["t"] >= 12}

    until(are_far, "they have checkpoints")
    assert not other.path("results").exists()
    assert LARGE_BYTES <= other.shared_bytes() < 1.75 * LARGE_BYTES  # one copy
    other.run("ip", "link", "set", "eth0", "down")

    def are_lost() -> bool:
        return there <= {one["trial_id"] for one in events("ended") if one["cause"] == "lost"}

    until(are_lost, "Ray gives the host up")
    other.kill()
    assert script.wait(180) == 0
    again = [one for one in events("started") if one["trial_id"] in there and one["node"] == ADDRESS["head"]]
    assert len(again) == 2
    assert all(one["restored"]["t"] >= 10 for one in again)
    files = list(head.path("results/hosts").glob("*/result.json"))
    assert len(files) == 4
    for file in files:
        assert [json.loads(line)["n"] for line in file.read_text().splitlines()] == list(range(1, STEPS + 1))
    head.run(*ray("stop"))
    assert not [one for one in head.commands() if "raylet" in one or "gcs_server" in one]


def test_a_driver_on_a_host_that_is_not_a_node_says_so_soon(host: Callable[[str], Host]) -> None:
    head, stranger = host("head"), host("stranger")
    head.run(
        *ray("start", "--head", "--node-ip-address", ADDRESS["head"], "--port=6379", "--include-dashboard=false"),
        "--num-cpus=1", "--object-store-memory=80000000",
    )  # fmt: skip
    stranger.path("script.py").write_text(STRANGER)
    script = stranger.begin(sys.executable, "script.py", f"{ADDRESS['head']}:6379")
    assert script.wait(180) == 1
    said = stranger.log.read_text()
    assert "this machine is not a node of it" in said
    took = [float(one.split()[0]) for one in said.split("refused after ")[1:]]
    assert min(took) < 5  # Ray's own search takes a minute; 3 s of it remain, and connecting
    head.run(*ray("stop"))
