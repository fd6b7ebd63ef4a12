"""A cluster that was started by hand, with a token."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

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
    mine = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
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


def n_alive(home: Path) -> int:
    """The number of nodes that are alive, as a new driver is told."""
    look = f"import ray; ray.init('127.0.0.1:{PORT}'); print(sum(node['Alive'] for node in ray.nodes()))"
    with_token = environment(home, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)
    done = subprocess.run([sys.executable, "-c", look], env=with_token, capture_output=True, text=True, timeout=60)
    return int(done.stdout) if done.returncode == 0 else 0


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    sessions = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # sockets need a short path
    head = ray_start(
        tmp_path, sessions, "--head", "--node-ip-address=127.0.0.1", f"--port={PORT}", "--dashboard-host=127.0.0.1",
        "--include-dashboard=false",
    )  # fmt: skip
    deadline = time.monotonic() + 90
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.2)
    other = ray_start(tmp_path, sessions, f"--address=127.0.0.1:{PORT}", "--node-ip-address=127.0.0.1")
    while n_alive(tmp_path) < 2:
        assert other.poll() is None
        assert time.monotonic() < deadline
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
        command, env=environment(stranger, RAY_ADDRESS=address), capture_output=True, text=True, timeout=100
    )
    assert refused.returncode != 0
    assert "This cluster wants a token" in refused.stderr
    (stranger / ".ray").mkdir()
    (stranger / ".ray" / "auth_token").write_text(TOKEN)
    done = subprocess.run(
        command, env=environment(stranger, RAY_ADDRESS=address), capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "running on the Ray engine: 2 nodes, 2 CPUs" in done.stdout + done.stderr
    assert f"(RAY_ADDRESS={address})" in done.stdout + done.stderr
    assert "3 TERMINATED" in done.stdout + done.stderr
