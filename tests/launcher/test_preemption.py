"""A cloud announces the end of spot machines: their trials save and go on elsewhere before the end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ray", reason="tests of spot machines need Ray")

from overtone.core import messages as m
from overtone.journal.reader import read
from tests.cluster.namespace_host import HAS_SETPRIV
from tests.launcher.ssh_hosts import LONG_S

SCRIPT = """
import sys, time
from pathlib import Path
from overtone import tune

class Steps(tune.Trainable):
    def setup(self, config):
        self.n = 0

    def step(self):
        time.sleep(0.1)
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": Path(sys.argv[1], "may_end").exists()}

    def save_checkpoint(self, folder):
        Path(folder, "n").write_text(str(self.n))

    def load_checkpoint(self, folder):
        self.n = int(Path(folder, "n").read_text())

tune.run(tune.with_resources(Steps, {"cpu": 1, "spot": 1}), num_samples=2, storage_path=sys.argv[1], name="exp",
         metric="loss", mode="min", verbose=0, checkpoint_freq=0, resume="AUTO", engine="ray", max_failures=0)
"""


class Metadata(BaseHTTPRequestHandler):
    """The answers of AWS's server, as far as it insists on tokens, and of Google Cloud's."""

    token = "a-token"

    def do_PUT(self) -> None:
        ttl = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "0")
        is_asked = self.path == "/latest/api/token" and 0 < int(ttl) <= 21600
        self._answer(200 if is_asked else 400, self.token)

    def do_GET(self) -> None:
        is_announced = self.server.is_announced.is_set()  # type: ignore[attr-defined]
        if self.path == "/latest/meta-data/spot/instance-action":
            if self.headers.get("X-aws-ec2-metadata-token") != self.token:
                self._answer(401, "")
            elif not is_announced:
                self._answer(404, "")
            else:
                at = datetime.now(timezone.utc) + timedelta(minutes=2)
                self._answer(
                    200, json.dumps({"action": "terminate", "time": at.strftime("%Y-%m-%dT%H:%M:%SZ")})
                )
        elif self.path == "/computeMetadata/v1/instance/preempted":
            is_google = self.headers.get("Metadata-Flavor") == "Google"
            self._answer(200 if is_google else 403, "TRUE" if is_announced else "FALSE")
        else:
            self._answer(404, "")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *given: Any) -> None:
        pass


@pytest.fixture
def metadata() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    server.is_announced = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Nodes:
    """A Ray cluster whose nodes are processes here, each with an environment of its own."""

    def __init__(self, home: Path) -> None:
        self.sessions = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))  # sockets need a short path
        self.home = home
        mine = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        self.environment = {
            **mine, "HOME": str(home), "RAY_AUTH_MODE": "disabled", "RAY_TMPDIR": str(self.sessions),
            "RAY_worker_niceness": "0",
        }  # fmt: skip
        self.begun: list[subprocess.Popen[bytes]] = []
        head = self._begin(
            "head",
            "--head",
            "--port=0",
            "--num-cpus=0",
            "--include-dashboard=false",
            f"--temp-dir={self.sessions}",
        )
        log = home / "head.log"
        until(lambda: "--address=" in log.read_text() or head.poll() is not None)
        self.address = log.read_text().partition("--address='")[2].partition("'")[0]
        self.environment["RAY_ADDRESS"] = self.address

    def _begin(self, name: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [
            *(("setpriv", "--pdeathsig", "TERM") if HAS_SETPRIV else ()),  # also where pytest is killed
            str(Path(sys.executable).with_name("ray")), "start", "--block", "--node-ip-address=127.0.0.1",
            "--object-store-memory=80000000", "--disable-usage-stats", *options,
        ]  # fmt: skip
        with (self.home / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env={**self.environment, **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.begun.append(process)
        return process

    def add(self, name: str, spot: int, **environment: str) -> subprocess.Popen[bytes]:
        """One more node, once Ray knows of it."""
        resources = json.dumps({"spot": spot, name: 1})
        options = (f"--address={self.address}", "--num-cpus=2", f"--resources={resources}")
        process = self._begin(name, *options, **environment)
        log = self.home / f"{name}.log"
        until(lambda: "Ray runtime started" in log.read_text())
        return process

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """Kill all processes of a node at once, as when its machine is switched off."""
        found = [psutil.Process(node.pid), *psutil.Process(node.pid).children(recursive=True)]
        for process in found:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass
        psutil.wait_procs(found, timeout=10)
        node.wait()
        self.begun.remove(node)

    def drive(self) -> subprocess.Popen[bytes]:
        """Start a driver of the search."""
        (self.home / "script.py").write_text(SCRIPT)
        with (self.home / "driver.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(self.home / "script.py"), str(self.home)],
                env=self.environment, stdout=log, stderr=log,
            )  # fmt: skip

    def close(self) -> None:
        for node in list(self.begun):
            self.kill(node)
        shutil.rmtree(self.sessions, ignore_errors=True)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    made = Nodes(tmp_path)
    yield made
    made.close()


def until(is_so: Callable[[], Any], within_s: float = LONG_S) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s"
        time.sleep(0.05)
    return found


def events(home: Path, kind: type | tuple[type, ...]) -> list[Any]:
    journal = home / "exp" / "journal.jsonl"
    if not journal.exists():
        return []
    return [record.event for record in read(journal) if isinstance(record.event, kind)]


def have_reported(home: Path, t: int = 3) -> bool:
    return len({event.trial_id for event in events(home, m.Reported) if event.t >= t}) == 2


def addresses(server: ThreadingHTTPServer) -> dict[str, dict[str, str]]:
    """How nodes of each cloud find its metadata server."""
    host = f"127.0.0.1:{server.server_port}"
    return {
        "aws": {"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://{host}"},
        "google": {"GCE_METADATA_HOST": host},
    }


@pytest.mark.full
def test_trials_of_announced_nodes_save_and_go_on_elsewhere(
    nodes: Nodes, metadata: Any, tmp_path: Path
) -> None:
    clouds = addresses(metadata)
    spot = [nodes.add("aws", 1, **clouds["aws"]), nodes.add("google", 1, **clouds["google"])]
    driver = nodes.drive()
    try:
        until(lambda: have_reported(tmp_path))
        nodes.add("safe", 2)
        metadata.is_announced.set()
        until(lambda: len([one for one in events(tmp_path, m.Ended) if one.cause == "halted"]) == 2)
        for node in spot:
            nodes.kill(node)
        (tmp_path / "may_end").touch()
        assert driver.wait(LONG_S) == 0, (tmp_path / "driver.log").read_text()
    finally:
        driver.kill()
        driver.wait()
    notices = events(tmp_path, m.Noticed)
    assert len({event.trial_id for event in notices}) == 2
    assert sorted(event.grace_s <= 30 for event in notices) == [False, True]  # AWS gives two minutes
    assert [event.cause for event in events(tmp_path, m.Ended)] == ["halted"] * 2 + ["returned"] * 2
    started = events(tmp_path, m.Started)
    assert all(event.restored is not None for event in started if event.attempt == 1)
    for trial_id in {event.trial_id for event in started}:
        lines = (tmp_path / "exp" / trial_id / "result.json").read_text().splitlines()
        assert [json.loads(line)["n"] for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.full
def test_a_resumed_driver_goes_on_elsewhere(nodes: Nodes, metadata: Any, tmp_path: Path) -> None:
    spot = nodes.add("aws", 2, **addresses(metadata)["aws"])
    driver = again = nodes.drive()
    try:
        until(lambda: have_reported(tmp_path))
        metadata.is_announced.set()
        until(lambda: len(events(tmp_path, m.Noticed)) == 2)
        driver.kill()  # while the trials leave
        driver.wait()
        again = nodes.drive()
        nodes.add("safe", 2)
        at = max((event.t for event in events(tmp_path, m.Reported)), default=0)
        until(lambda: have_reported(tmp_path, at + 3))
        nodes.kill(spot)
        (tmp_path / "may_end").touch()
        assert again.wait(LONG_S) == 0, (tmp_path / "driver.log").read_text()
    finally:
        for process in (driver, again):
            process.kill()
            process.wait()
    ended = [event.cause for event in events(tmp_path, m.Ended)]
    assert ended.count("returned") == 2
    assert "failed" not in ended
