"""A cluster that begins without workers grows as trials wait, and shrinks when they have ended."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

MOST = 2

SCRIPT = """
import json, sys, threading, time
from pathlib import Path
import ray
from overtone import tune

while not ray.is_initialized():
    try:
        ray.init(address="auto", log_to_driver=False)
    except (ConnectionError, RuntimeError):
        time.sleep(0.2)  # the head is not up yet
has_grown = Path(sys.argv[1], "has_grown")

def count():
    return sum(node["Alive"] for node in ray.nodes())

counts = [count()]

def watch():
    while not over.wait(0.2):
        counts.append(count())
        if counts[-1] == int(sys.argv[2]):
            has_grown.touch()

def wait(config):
    while not has_grown.exists():
        time.sleep(0.1)
    tune.report(loss=config["x"])

over = threading.Event()
threading.Thread(target=watch, daemon=True).start()
analysis = tune.run(wait, config={"x": tune.uniform(0, 1)}, num_samples=6, metric="loss", mode="min",
                    resources_per_trial={"cpu": 1}, storage_path=sys.argv[1], verbose=0)
over.set()
deadline = time.time() + 240
while count() > 1 and time.time() < deadline:
    time.sleep(0.2)
print(json.dumps({"first": counts[0], "most": max(counts), "last": count(),
                  "ended": [trial.status for trial in analysis.trials]}))
"""


def configuration() -> dict[str, Any]:
    """Of Ray's fake provider, whose workers are processes of this machine."""
    empty: dict[str, Any] = {
        name: []
        for name in (
            "initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands",
            "head_start_ray_commands", "worker_start_ray_commands", "cluster_synced_files", "rsync_exclude",
            "rsync_filter",
        )
    }  # fmt: skip
    kind = {"node_config": {}, "min_workers": 0}
    return {
        **empty,
        "cluster_name": "grows",
        "max_workers": MOST,
        "provider": {
            "type": "fake_multinode",
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
        },
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
            "worker": {
                **kind,
                "resources": {"CPU": 2, "object_store_memory": 80_000_000},
                "max_workers": MOST,
            },
        },
        "head_node_type": "ray.head.default",
        "auth": {},
        "docker": {},
        "file_mounts": {},
        "file_mounts_sync_continuously": False,
        "upscaling_speed": 1.0,
        "idle_timeout_minutes": 0.05,
    }


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a cluster that grows."""
    file = tmp_path / "autoscaler.json"
    file.write_text(json.dumps(configuration()))
    port = "6379"  # the fake provider knows no other
    sessions = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # sockets need a short path
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={port}", "--num-cpus=0",
        "--object-store-memory=80000000", f"--autoscaling-config={file}", f"--temp-dir={sessions}",
        "--include-dashboard=false",
    ]  # fmt: skip
    environment = {
        **os.environ, "AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1", "RAY_AUTH_MODE": "disabled",
    }  # fmt: skip
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as head:
        yield f"127.0.0.1:{port}"
        below = psutil.Process(head.pid).children(recursive=True)
        for one in [psutil.Process(head.pid), *below]:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                pass
    shutil.rmtree(sessions, ignore_errors=True)


def test_the_cluster_grows_and_shrinks(address: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path), str(1 + MOST)]
    environment = {**os.environ, "RAY_ADDRESS": address, "RAY_AUTH_MODE": "disabled"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {"first": 1, "most": 1 + MOST, "last": 1, "ended": ["TERMINATED"] * 6}
