"""What the tests of the page and its benchmarks share: servers, tabs, and experiments to look at."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psutil
import pytest

from tests.ui.slow_machine import Slowness

ADDRESS = re.compile(rb"https?://[^\s/]+/\S*#\S+")
WITHIN_S = 300.0
"""Patience with a busy machine: what is right is there long before."""

_DRAINS: dict[subprocess.Popen[Any], threading.Thread] = {}
"""The threads that read the output of processes whose address is known."""

EXPERIMENTS = """
import sys
from overtone import tune
from overtone.tune.schedulers import ASHAScheduler, PopulationBasedTraining

common = dict(storage_path=sys.argv[1], verbose=0, seed=1)

def train(config):
    loss = 2.0
    print("training with", config)
    for t in range(1, 28):
        loss = loss * (1 - 0.2 * min(1, config["lr"] * 30)) + config["lr"] ** 2
        tune.report({"loss": loss, "accuracy": 1 / (1 + loss)})

def explore(config):
    weight = 0.0
    checkpoint = tune.get_checkpoint()
    if checkpoint:
        weight = checkpoint.to_dict()["weight"]
    for t in range(20):
        weight += config["lr"] * (1 - weight)
        tune.report({"score": weight}, checkpoint=tune.Checkpoint.from_dict({"weight": weight}))

def fail(config):
    tune.report({"loss": config["x"]})
    if config["x"] > 0.5:
        raise ValueError("the value x is too large")

lr = tune.uniform(0.001, 0.2)
tune.run(train, name="asha", num_samples=30, metric="loss", mode="min",
         config={"lr": tune.loguniform(1e-4, 1), "width": tune.randint(8, 256),
                 "activation": tune.choice(["relu", "tanh"])},
         scheduler=ASHAScheduler(max_t=27, grace_period=1, reduction_factor=3), **common)
tune.run(explore, name="pbt", num_samples=4, metric="score", mode="max", config={"lr": lr},
         scheduler=PopulationBasedTraining(perturbation_interval=5, hyperparam_mutations={"lr": lr}), **common)
tune.run(fail, name="failing", num_samples=8, metric="loss", mode="min", config={"x": tune.uniform(0, 1)},
         raise_on_failed_trial=False, **common)
"""


full = pytest.mark.skipif(
    os.environ.get("CI") == "true", reason="with CI=true another test of its kind is run: make proof runs all"
)
"""Marks tests that are run by hand."""


def chromium() -> str | None:
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def make_experiments(folder: Path) -> Path:
    """Run three small searches below `folder`; return it."""
    script = folder.parent / "make_experiments.py"
    script.write_text(EXPERIMENTS)
    done = subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, text=True, timeout=WITHIN_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@dataclass
class Server:
    """A server process.

    Attributes:
        process: The process.
        address: The address that it printed, with the token.
        output: What it has printed so far, as lines of bytes; read on in the background.
    """

    process: subprocess.Popen[bytes]
    address: str

    @property
    def origin(self) -> str:
        """Scheme, host and port, such as "http://127.0.0.1:8080"."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def token(self) -> str:
        """The secret in the address's fragment."""
        return urlsplit(self.address).fragment.rpartition("=")[2]

    def at(self, experiment: str, view: str = "overview", trial: str = "") -> str:
        """Return the address of a view, for a tab that has not logged in yet."""
        route = "/".join(["/e", experiment, view, *([trial] if trial else [])])
        return f"{self.origin}/#token={self.token}&next={quote(route)}"

    def stop(self) -> None:
        """End the process, and those that it started."""
        closed(self.process)

    def kill(self) -> None:
        """End the process by SIGKILL."""
        self.process.kill()
        closed(self.process)


def start_server(folder: Path | str, *options: str, **environment: str) -> Server:
    """Start `overtone ui FOLDER OPTIONS...` on a free port; `read_address` tells its address."""
    command = [sys.executable, "-m", "overtone", "ui", str(folder), "--port", "0", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment}
    )
    return Server(process, "")


def read_address(process: subprocess.Popen[bytes]) -> str:
    """Wait for the address that a process prints; go on reading its output in the background."""
    assert process.stdout is not None
    lines: list[bytes] = []
    overdue = threading.Timer(WITHIN_S, process.kill)
    overdue.start()
    try:
        for line in process.stdout:
            lines.append(line)
            if found := ADDRESS.search(line):
                drain = threading.Thread(target=process.stdout.read, daemon=True)
                drain.start()
                _DRAINS[process] = drain
                return found[0].decode()
    finally:
        overdue.cancel()
    raise AssertionError(f"no address in the output of {process.args!r}: {b''.join(lines).decode()}")


def closed(process: subprocess.Popen[Any]) -> None:
    """End a process by SIGINT, and if that does not end it in 10 s with all that it started by SIGKILL."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
    if drain := _DRAINS.pop(process, None):
        drain.join()
    if process.stdout is not None:
        process.stdout.close()


def left_running(pattern: str) -> list[str]:
    """Return the commands of this process's descendants that match, once those that are ending have ended."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            command = child.cmdline()
        except psutil.Error:  # it has ended
            continue
        if re.search(pattern, " ".join([child.name(), *command[:4]])):
            found.append((child, command))
    _, alive = psutil.wait_procs([child for child, _ in found], timeout=60)
    return [" ".join(command)[:200] for child, command in found if child in alive]


def read_records(journal: Path) -> list[dict[str, Any]]:
    """Return the records that a journal has; its last line may still be being written."""
    whole, _, _ = journal.read_text("utf-8").rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


class Tab:
    """A browser context with one page, whose errors are collected in `page.faults`.

    Those with one of the texts in `page.expected` are none: a test that provokes an error adds its text before.
    """

    def __init__(self, context: Any, slowness: Slowness) -> None:
        self.context = context
        slowness.apply(context)
        self.page = context.new_page()
        faults: list[str] = []
        self.page.faults = faults
        expected: list[str] = []
        self.page.expected = expected
        self.page.on("console", self._check_message)
        self.page.on("pageerror", lambda error: faults.append(str(error)))
        self.page.on("request", self._check_origin)

    def _check_message(self, message: Any) -> None:
        if message.type == "error" and not any(text in message.text for text in self.page.expected):
            self.page.faults.append(f"{message.text} ({message.location.get('url', '')})")

    def _check_origin(self, request: Any) -> None:
        at, of = urlsplit(request.url), urlsplit(self.page.url)
        if at.scheme.startswith("http") and of.scheme.startswith("http") and at.netloc != of.netloc:
            self.page.faults.append(f"request to another origin: {request.url}")
