"""Waiting trials start workers, up to the most that are allowed; idle workers go, down to the fewest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cluster.namespace_host import HAS_SETPRIV
from tests.launcher.ssh_hosts import HOME, LONG_S, Host, Network, network

pytest.importorskip("ray", reason="tests of the autoscaler need Ray")

MOST = 2
PORT = 6379  # Ray's fake provider knows no other
HEAD_ID = "fffffffffffffffffffffffffffffffffffffffffffffffffff00000"

SCRIPT = """
import sys, time
from pathlib import Path
from overtone import tune

def wait(config):
    tune.report(loss=config["x"])
    while not Path(sys.argv[1], "may_end").exists():
        time.sleep(0.1)

tune.run(wait, config={"x": tune.uniform(0, 1)}, num_samples=int(sys.argv[2]), metric="loss", mode="min", engine="ray", name="exp",
         resources_per_trial={"cpu": 1}, storage_path=sys.argv[1], verbose=0, resume="AUTO", max_failures=0)
"""


def configuration(fewest: int) -> dict[str, Any]:
    """Of Ray's fake provider, whose workers are processes of this machine; with autoscaler v2, as `ray up` has it."""
    empty: dict[str, Any] = {
        name: []
        for name in (
            "initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands",
            "head_start_ray_commands", "worker_start_ray_commands", "cluster_synced_files", "rsync_exclude",
            "rsync_filter",
        )
    }  # fmt: skip
    return {
        **empty,
        "cluster_name": "grows",
        "max_workers": MOST,
        "provider": {
            "type": "external",
            "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "launch_multiple": True,
            "head_node_id": HEAD_ID,
        },
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
            "worker": {
                "resources": {"CPU": 2, "object_store_memory": 80_000_000},
                "node_config": {}, "min_workers": fewest, "max_workers": MOST,
            },
        },
        "head_node_type": "ray.head.default",
        "auth": {},
        "docker": {},
        "file_mounts": {},
        "file_mounts_sync_continuously": False,
        "upscaling_speed": 1.0,
        "idle_timeout_minutes": 0.05,
    }  # fmt: skip


class Growing:
    """A cluster that grows and shrinks.

    Attributes:
        home: The folder of its files, and of the experiment.
        environment: For its processes and for drivers.
    """

    def __init__(self, home: Path, fewest: int) -> None:
        self.home = home
        self.sessions = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # sockets need a short path
        mine = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        self.environment = {**mine, "RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
        file = home / "autoscaler.json"
        file.write_text(json.dumps(configuration(fewest)))
        command = [
            *(("setpriv", "--pdeathsig", "TERM") if HAS_SETPRIV else ()),  # also where pytest is killed
            str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={PORT}", "--num-cpus=0",
            "--object-store-memory=80000000", f"--autoscaling-config={file}", f"--temp-dir={self.sessions}",
            "--include-dashboard=false", "--disable-usage-stats",
        ]  # fmt: skip
        own = {
            "AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1", "RAY_enable_autoscaler_v2": "1",
            "RAY_CLOUD_INSTANCE_ID": HEAD_ID, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": HEAD_ID,
        }  # fmt: skip
        with (home / "head.log").open("wb") as log:
            self._head = subprocess.Popen(command, env={**self.environment, **own}, stdout=log, stderr=log)
        until(lambda: "Ray runtime started" in (home / "head.log").read_text())

    def workers(self) -> int:
        """How many workers Ray counts as alive."""
        from ray._raylet import GcsClient

        assert self._head.poll() is None, (self.home / "head.log").read_text()[-3000:]
        nodes = GcsClient(f"127.0.0.1:{PORT}").get_all_node_info(timeout=30).values()
        return sum(node.state == 0 for node in nodes) - 1

    def drive(self) -> subprocess.Popen[bytes]:
        """Start a driver of the search."""
        (self.home / "script.py").write_text(SCRIPT)
        with (self.home / "driver.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(self.home / "script.py"), str(self.home), "4"],
                env={**self.environment, "RAY_ADDRESS": f"127.0.0.1:{PORT}"}, stdout=log, stderr=log,
            )  # fmt: skip

    def close(self) -> None:
        below = psutil.Process(self._head.pid).children(recursive=True)
        for process in [psutil.Process(self._head.pid), *below]:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass
        self._head.wait()
        shutil.rmtree(self.sessions, ignore_errors=True)


@pytest.fixture
def growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Growing]]:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    made: list[Growing] = []

    def make(fewest: int) -> Growing:
        made.append(Growing(tmp_path, fewest))
        return made[-1]

    yield make
    for one in made:
        one.close()


def until(is_so: Callable[[], Any], within_s: float = LONG_S) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s"
        time.sleep(0.2)
    return found


@pytest.mark.full
@pytest.mark.parametrize("fewest", [0, 1])
def test_workers_come_and_go_also_after_the_driver_was_killed(
    growing: Callable[[int], Growing], tmp_path: Path, fewest: int
) -> None:
    cluster = growing(fewest)
    driver = again = cluster.drive()
    try:
        until(lambda: cluster.workers() == MOST)
        until(lambda: (tmp_path / "exp" / "journal.jsonl").exists())
        driver.kill()
        driver.wait()
        until(lambda: cluster.workers() == fewest)
        again = cluster.drive()
        until(lambda: cluster.workers() == MOST)
        (tmp_path / "may_end").touch()
        assert again.wait(LONG_S) == 0, (tmp_path / "driver.log").read_text()[-3000:]
        until(lambda: cluster.workers() == fewest)
    finally:
        for process in (driver, again):
            process.kill()
            process.wait()


@pytest.fixture
def hosts() -> Iterator[Network]:
    with network(3) as made:
        yield made


def has_ray(host: Host) -> bool:
    return any("/raylet/raylet " in command for command in host.processes().values())


def drive_on(head: Host) -> subprocess.Popen[str]:
    """Start a driver of the search on a cluster's head."""
    head.path("/tmp/script.py").write_text(SCRIPT)
    variables = {
        "RAY_ADDRESS": "auto", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": f"{HOME}/.overtone/cluster/token",
        "OVERTONE_CLUSTER": "three",
    }  # fmt: skip
    n_trials = 3 * len(os.sched_getaffinity(0))  # all that three hosts have
    return head.begin("python", "/tmp/script.py", "/tmp", str(n_trials), env=variables)


@pytest.mark.full
def test_hosts_join_and_leave_and_the_head_ends_the_cluster(hosts: Network) -> None:
    head, *workers = hosts.hosts
    hosts.write_config(workers={"min": 0, "max": 2, "idle": "3s"}, limits={"cluster_idle": "5s"})
    ssh = [
        "ssh",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        f"root@{head.address}",
    ]
    login = hosts.client.begin(*ssh, "sleep 1000")  # keeps the cluster, also without work
    up = hosts.overtone("up", "c.yaml")
    assert up.returncode == 0, up.stdout
    assert not any(map(has_ray, workers))
    driver = drive_on(head)
    until(lambda: all(map(has_ray, workers)))
    head.check("pkill", "-9", "-f", "script.py")
    driver.communicate()
    until(lambda: all(worker.processes() == {} for worker in workers))
    again = drive_on(head)
    until(lambda: all(map(has_ray, workers)))
    for host in hosts.hosts:  # each has its own /tmp
        host.path("/tmp/may_end").touch()
    output, _ = again.communicate(timeout=LONG_S)
    assert again.returncode == 0, output
    until(lambda: all(worker.processes() == {} for worker in workers))
    assert has_ray(head)
    hosts.client.check("pkill", "-x", "ssh")
    login.communicate()
    hosts.client.kill()
    until(lambda: head.processes() == {})
    assert "idle for 5s" in head.home(".overtone/cluster/ended.json").read_text()
