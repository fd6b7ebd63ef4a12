"""Trainables that go wrong, each in its own way, and a few that do not.

All are at module level, so that every engine can send them to its processes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.session.current import current
from overtone.worker.trainables.trainable import Trainable

Config = dict[str, Any]


def reports(config: Config) -> None:
    """Report `config["n"]` times (2)."""
    for i in range(config.get("n", 2)):
        current().report({"loss": 1 / (i + 1)})


def reports_nothing(config: Config) -> None:
    """Returns at once."""


def returns_metrics(config: Config) -> dict[str, float]:
    """Returns its one result."""
    return {"loss": 0.5}


def yields(config: Config) -> Iterator[dict[str, float]]:
    """Yield results; leave the file `config["closed"]` when the generator is closed."""
    try:
        for i in range(config.get("n", 2)):
            yield {"loss": 1 / (i + 1)}
    finally:
        if "closed" in config:
            Path(config["closed"]).write_text("closed")


def raises(config: Config) -> None:
    """Report once, then fail on a line that says so."""
    current().report({"loss": 1.0})
    raise ValueError("this trial was made to fail")


def raises_at_once(config: Config) -> None:
    """Fails before its first report."""
    raise ValueError("this trial was made to fail")


def raises_base_exception(config: Config) -> None:
    """Fails with what `except Exception` does not catch."""
    current().report({"loss": 1.0})
    raise BaseException("this trial was made to fail")


def exits_with_zero(config: Config) -> None:
    """Report once, then call sys.exit()."""
    current().report({"loss": 1.0})
    sys.exit()


def exits_with_three(config: Config) -> None:
    """Report once, then call sys.exit(3)."""
    current().report({"loss": 1.0})
    sys.exit(3)


def exits_hard(config: Config) -> None:
    """Report once, then exit without a message."""
    current().report({"loss": 1.0})
    os._exit(7)


def exits_hard_at_once(config: Config) -> None:
    """End the process before the first report."""
    os._exit(7)


def kills_itself(config: Config) -> None:
    """Report once, then send itself SIGKILL."""
    current().report({"loss": 1.0})
    os.kill(os.getpid(), signal.SIGKILL)


def segfaults(config: Config) -> None:
    """Report once, then read address 0."""
    import ctypes
    import faulthandler

    current().report({"loss": 1.0})
    faulthandler.disable()
    ctypes.string_at(0)


def reports_unpicklable(config: Config) -> None:
    """Report a lambda and a lock beside its metric."""
    import threading
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        current().report({"loss": 1.0, "function": lambda: None, "lock": threading.Lock()})


def reports_huge(config: Config) -> None:
    """Report 5 MB, twice."""
    for _ in range(2):
        current().report({"loss": 1.0, "text": "x" * 5_000_000})


def reports_nan(config: Config) -> None:
    """Report what JSON does not have."""
    current().report({"loss": float("nan"), "high": float("inf"), "low": -float("inf")})


def runs_for_ever(config: Config) -> None:
    """Report until told to end."""
    while True:
        current().report({"loss": 1.0})


def trains_for_long(config: Config) -> None:
    """Report once, then stay busy for a minute."""
    current().report({"loss": 1.0})
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.05)


def ignores_halt(config: Config) -> None:
    """Continue after any exception of `report`."""
    while True:
        try:
            current().report({"loss": 1.0})
        except BaseException:
            time.sleep(0.001)


def ignores_halt_and_sigterm(config: Config) -> None:
    """Continue after any exception of `report`, and ignore SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ignores_halt(config)


def reports_after_halt(config: Config) -> None:
    """Catches the halt once, reports again, and gives up then."""
    session = current()
    while True:
        try:
            session.report({"loss": 1.0})
        except BaseException:
            session.report({"loss": 2.0})


def leaves_children(config: Config) -> None:
    """Starts a process that outlives it, and writes its pid to `config["pid_file"]`."""
    import subprocess

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(config["pid_file"]).write_text(str(child.pid))
    child.returncode = 0  # nobody waits for it, on purpose
    current().report({"loss": 1.0})


def floods_stdout(config: Config) -> None:
    """Writes 2 MB to stdout and stderr between two reports."""
    current().report({"loss": 1.0})
    for _ in range(1000):
        sys.stdout.write("o" * 999 + "\n")
        sys.stderr.write("e" * 999 + "\n")
    current().report({"loss": 0.5})


def saves_each_time(config: Config) -> None:
    """Report with a checkpoint each time, and resume from a checkpoint."""
    import tempfile

    session = current()
    begun_from = session.get_checkpoint()
    t = int(Path(begun_from.path, "t.txt").read_text()) if begun_from else 0
    while t < config.get("n", 3):
        t += 1
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "t.txt").write_text(str(t))
            session.report({"loss": 1 / t, "step": t}, checkpoint=Checkpoint.from_directory(folder))


def saves_when_asked(tune: Any) -> None:
    """Save to one file, in the paper's cooperative form."""
    import tempfile

    t = int(Path(tune.checkpoint).read_text()) if tune.checkpoint else 0
    with tempfile.TemporaryDirectory() as folder:
        while t < tune.params.get("n", 3):
            t += 1
            tune.report(loss=1 / t, step=t)
            if tune.should_checkpoint():
                Path(folder, "state.txt").write_text(str(t))
                tune.record_checkpoint(Path(folder, "state.txt"))


class Steps(Trainable):
    """A class trial: counts its steps, saves them as a dict, is done after `config["n"]` (3)."""

    def setup(self, config: Config) -> None:
        self.t = 0

    def step(self) -> Config:
        self.t += 1
        return {"loss": 1 / self.t, "step": self.t, "done": self.t >= self.config.get("n", 3)}

    def save_checkpoint(self, checkpoint_dir: str) -> Config:
        return {"t": self.t}

    def load_checkpoint(self, checkpoint: Config) -> None:
        self.t = checkpoint["t"]

    def reset_config(self, new_config: Config) -> bool:
        return True


class DiesWhileSaving(Steps):
    """Is gone in the middle of a save, with half a file written."""

    def save_checkpoint(self, checkpoint_dir: str) -> Config:
        Path(checkpoint_dir, "half").write_text("ha")
        os._exit(7)


class FailsToSave(Steps):
    """Raises when it should save."""

    def save_checkpoint(self, checkpoint_dir: str) -> Config:
        raise OSError("this save was made to fail")


class FailsToLoad(Steps):
    """Raises when it should go on from a checkpoint."""

    def load_checkpoint(self, checkpoint: Config) -> None:
        raise OSError("this load was made to fail")


def sends_bytes(config: Config) -> None:
    """Report once, and send `config["hex"]` to its driver past all that is meant for that; then report on.

    With `config["exits"]` its process ends right after.
    """
    current().report({"loss": 1.0})
    line: Any = current()
    line._channel._sock.sendall(bytes.fromhex(config["hex"]))
    if config.get("exits"):
        os._exit(0)
    for i in range(2000):
        current().report({"loss": 1 / (i + 2)})
        time.sleep(0.005)
