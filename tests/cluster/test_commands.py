"""A cluster that was started by hand, with a token."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

TOKEN = "4f2d" * 16
PORT = 6396

SCRIPT = """
import sys
from overtone import tune

def train(config):
    tune.report(loss=config["x"])

tune.run(train, config={"x": tune.uniform(0, 1)}, num_samples=3, metric="loss", mode="min", storage_path=sys.argv[1])
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not (name.startswith("RAY_") and name.isupper())}
    return {**mine, "HOME": str(home), **more}


def ray_start(home: Path, sessions: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--block", "--object-store-memory=80000000",
        "--num-cpus=1", *arguments,
    ]  # fmt: skip
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command,
        env=environment(home, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN, RAY_TMPDIR=sessions),
        stdout=quiet,
        stderr=quiet,
    )


def accepts() -> bool:
    try:
        socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
    except OSError:
        return False
    return True


LOOK = f"""
import time
import ray

while not ray.is_initialized():
    try:
        ray.init("127.0.0.1:{PORT}")
    except (ConnectionError, RuntimeError):
        time.sleep(0.2)  # the head is not up yet
while sum(node["Alive"] for node in ray.nodes()) < 2:
    time.sleep(0.1)
"""


@pytest.fixture
def address(tmp_path: Path, until: Any) -> Iterator[str]:
    sessions = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # sockets need a short path
    head = ray_start(
        tmp_path, sessions, "--head", "--node-ip-address=127.0.0.1", f"--port={PORT}", "--dashboard-host=127.0.0.1",
        "--include-dashboard=false",
    )  # fmt: skip
    until(accepts)
    other = ray_start(tmp_path, sessions, f"--address=127.0.0.1:{PORT}", "--node-ip-address=127.0.0.1")
    with_token = environment(tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)
    subprocess.run([sys.executable, "-c", LOOK], env=with_token, check=True, capture_output=True, timeout=300)
    yield f"127.0.0.1:{PORT}"
    for process in (other, head):
        for one in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                pass
        process.wait()
    shutil.rmtree(sessions, ignore_errors=True)


def test_a_script_needs_the_token_and_says_so(address: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path / "results")]
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    refused = subprocess.run(
        command, env=environment(stranger, RAY_ADDRESS=address), capture_output=True, text=True, timeout=300
    )
    assert refused.returncode != 0
    assert "This cluster wants a token" in refused.stderr
    (stranger / ".ray").mkdir()
    (stranger / ".ray" / "auth_token").write_text(TOKEN)
    done = subprocess.run(
        command, env=environment(stranger, RAY_ADDRESS=address), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "running on the Ray engine: 2 nodes, 2 CPUs" in done.stdout + done.stderr
    assert f"(RAY_ADDRESS={address})" in done.stdout + done.stderr
    assert "3 TERMINATED" in done.stdout + done.stderr
