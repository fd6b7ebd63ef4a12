"""A tracking server of MLflow that is away for a time while a search runs: nothing is lost, nothing doubles."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing

import pytest
from tracker_contents import artifacts, expected, in_mlflow, n_values, same, saved, start

AWAY_S = 20.0

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]


class Server:
    """A server of MLflow on a database and a folder for artifacts."""

    def __init__(self, folder):
        self._folder, self.database, self.files = folder, folder / "mlflow.db", folder / "files"
        with closing(socket.create_server(("127.0.0.1", 0))) as one:
            self._port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self):
        options = {
            "backend-store-uri": f"sqlite:///{self.database}", "artifacts-destination": self.files,
            "host": "127.0.0.1", "port": self._port, "workers": 1,
        }  # fmt: skip
        given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        with open(self._folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mlflow", "server", *given],
                cwd=self._folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def signal(self, number):
        os.killpg(self._process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self._process.wait()


@pytest.fixture
def server(tmp_path):
    pytest.importorskip("mlflow")
    made = Server(tmp_path)
    yield made
    made.kill()


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_server_that_is_away_loses_nothing(tmp_path, server, is_killed):
    driver = start(tmp_path, "mlflow", server.url, 1.0)
    try:
        while n_values(server.database) < 5 and driver.poll() is None:
            time.sleep(0.2)
        n_before = n_values(server.database)
        if is_killed:
            server.kill()
        else:
            server.signal(signal.SIGSTOP)
        time.sleep(AWAY_S)  # the time is what is tested
        if is_killed:
            server.start()
        else:
            server.signal(signal.SIGCONT)
        assert driver.wait() == 0
    finally:
        driver.kill()
        driver.wait()
    assert 5 <= n_before < 40
    values, runs = in_mlflow(server.database)
    assert same(values, expected(tmp_path))
    assert sorted(facts[0] for facts in runs.values()) == ["FAILED", "FINISHED", "FINISHED", "FINISHED"]
    assert artifacts(server.database, server.files) == saved(tmp_path)
