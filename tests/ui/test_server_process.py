"""The dashboard's server as a process: how it starts, who shares it, what it survives, how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.ui.harness import WITHIN_S, Server

RUN = """
import sys, time
from overtone import tune

def train(config):
    for t in range(int(sys.argv[3])):
        time.sleep(0.02)
        tune.report(loss=t)

if __name__ == "__main__":
    print("trials:", len(tune.run(train, num_samples=2, storage_path=sys.argv[1], name=sys.argv[2], ui=True, verbose=0).trials))
"""
BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("starlette", "uvicorn"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    """A runtime folder for the test; the servers that are registered there end with it."""
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    for process in servers_of(folder):
        process.kill()
        process.wait(WITHIN_S)


def servers_of(runtime: Path) -> list[psutil.Process]:
    """Return the processes whose runtime folder this is, and which are servers."""
    found = []
    for process in psutil.process_iter():
        try:
            if "--background" in process.cmdline() and process.environ().get("XDG_RUNTIME_DIR") == str(
                runtime
            ):
                found.append(process)
        except psutil.Error:
            continue
    return found


def ask(address: str, path: str, token: str, method: str = "GET") -> tuple[int, bytes]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=WITHIN_S)
    connection.request(method, path, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def addresses(output: str) -> list[tuple[str, str]]:
    """Return each dashboard's address and token in a run's output."""
    lines = [line.partition("dashboard: ")[2] for line in output.splitlines() if "dashboard: http" in line]
    return [(line.partition("#token=")[0], line.partition("#token=")[2]) for line in lines]


def test_ctrl_c_ends_a_server_quietly_with_open_streams(serve, experiments):
    server = serve(experiments)
    parts = urlsplit(server.origin)
    streams = [http.client.HTTPConnection(parts.hostname, parts.port, timeout=WITHIN_S) for _ in range(5)]
    for one in streams:
        one.request("GET", "/api/experiments/pbt/stream", headers={"Authorization": f"Bearer {server.token}"})
        assert one.getresponse().read(20)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(WITHIN_S) == 0
    for one in streams:
        one.close()


def test_a_second_server_shows_the_first_ones_address(experiments):
    command = [sys.executable, "-m", "overtone", "ui", str(experiments)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = first.stdout.readline()
        second = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S)
        assert second.stdout == address
        assert second.stderr == f"overtone: process {first.pid} serves this folder already\n"
        other = subprocess.run(
            [*command, "--host", "0.0.0.0"], capture_output=True, text=True, timeout=WITHIN_S
        )
        assert other.returncode == 1
        assert "--token-file" in other.stderr
        port = urlsplit(address).port
        taken = subprocess.run(
            [*command, "--port", str(port)], capture_output=True, text=True, timeout=WITHIN_S
        )
        assert taken.returncode == 1
        assert f"port {port} of 127.0.0.1 cannot be used" in taken.stderr
    finally:
        first.send_signal(signal.SIGINT)
        assert first.communicate(timeout=WITHIN_S)[0] == ""
    assert first.returncode == 0


def test_runs_that_begin_at_once_share_a_server_that_outlives_them(start_run, tmp_path, runtime):
    results = tmp_path / "results"
    runs = [start_run(RUN, str(results), f"run{i}", "20") for i in range(3)]
    outputs = [run.communicate(timeout=WITHIN_S)[0] for run in runs]
    found = [addresses(output) for output in outputs]
    assert [len(one) for one in found] == [1, 1, 1], outputs
    assert len({one[0] for one in found}) == 1
    assert all("trials: 2" in output for output in outputs)
    assert len(servers_of(runtime)) == 1
    address, token = found[0][0]
    status, body = ask(address, "/api/experiments", token)
    assert status == 200
    assert {one["id"] for one in json.loads(body)["experiments"]} == {"run0", "run1", "run2"}
    for name in ("run0", "run1", "run2"):
        assert (
            f'overtone_results_total{{experiment="{name}"}} 40.0'.encode()
            in ask(address, "/metrics", token)[1]
        )


def test_a_killed_server_does_not_touch_the_run_and_the_next_run_starts_another(start_run, tmp_path, runtime):
    results = tmp_path / "results"
    run = start_run(RUN, str(results), "first", "200")
    line = next(line for line in run.stdout if "dashboard: http" in line)
    (server,) = servers_of(runtime)
    server.kill()
    output = run.communicate(timeout=WITHIN_S)[0]
    assert run.returncode == 0
    assert "trials: 2" in output
    second = start_run(RUN, str(results), "second", "1").communicate(timeout=WITHIN_S)[0]
    (found,) = addresses(second)
    assert found[1] not in line
    assert ask(found[0], "/api/me", found[1])[0] == 200


def test_a_run_without_the_extra_says_so_and_goes_on(start_run, tmp_path):
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(BLOCKED)
    path = os.pathsep.join(filter(None, (str(tmp_path / "blocked"), os.environ.get("PYTHONPATH"))))
    output = start_run(RUN, str(tmp_path / "results"), "run", "1", PYTHONPATH=path).communicate(
        timeout=WITHIN_S
    )[0]
    (line,) = [line for line in output.splitlines() if "dashboard" in line]
    assert line == (
        'overtone: no dashboard: the dashboard needs starlette: pip install "overtone[ui]"; the run continues'
    )
    assert "trials: 2" in output


def test_a_run_whose_runtime_folder_is_unwritable_has_a_server(start_run, tmp_path, runtime):
    (runtime / "overtone").write_text("in the way")
    output = start_run(RUN, str(tmp_path / "results"), "run", "1").communicate(timeout=WITHIN_S)[0]
    (found,) = addresses(output)
    assert ask(found[0], "/api/me", found[1])[0] == 200


def test_a_deleted_experiment_and_a_damaged_one(serve, experiments):
    server: Server = serve(experiments)
    assert ask(server.origin, "/api/experiments/pbt/columns", server.token)[0] == 200
    os.rename(experiments / "pbt", experiments / "moved")
    assert ask(server.origin, "/api/experiments/pbt/columns", server.token)[0] == 404
    assert ask(server.origin, "/api/experiments/moved/columns", server.token)[0] == 200
    journal = experiments / "asha" / "journal.jsonl"
    journal.write_bytes(b"nonsense\n" + journal.read_bytes())
    status, body = ask(server.origin, "/api/experiments", server.token)
    states = {one["id"]: one["state"] for one in json.loads(body)["experiments"]}
    assert (status, states["asha"], states["failing"]) == (200, "damaged", "finished")
    status, body = ask(server.origin, "/api/experiments/asha/columns", server.token)
    assert status == 502
    assert b"damaged" in body
    assert ask(server.origin, "/metrics", server.token)[0] == 200


def test_the_server_imports_no_module_of_the_users_folder(serve, experiments, tmp_path, monkeypatch):
    (tmp_path / "trap").mkdir()
    for name in ("queue", "starlette", "uvicorn", "anyio", "numpy", "train", "sitecustomise"):
        (tmp_path / "trap" / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').close()")
    monkeypatch.chdir(tmp_path / "trap")
    command = [str(Path(sys.executable).with_name("overtone")), "ui", str(experiments), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address, _, token = process.stdout.readline().strip().partition("#token=")
        for path in ("/api/experiments", "/api/experiments/pbt/overview", "/api/experiments/failing/columns"):
            assert ask(address, path, token)[0] == 200
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WITHIN_S)
    assert not (tmp_path / "sprung").exists()
