"""One experiment in the hands of its tormentor: started, hurt, killed, resumed, and looked at."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import checks

HERE = Path(__file__).parent
PATIENCE_S = 90.0
"""How long a tiny experiment may take before it counts as stuck."""


class Suffering:
    """An experiment below `root`, whose driver is a process of its own.

    Args:
        root: A new folder.
        random: All chance.
        options: See `driver.py`.

    Attributes:
        folder: The experiment's.
        log: What happened, for the report of a failure.
    """

    def __init__(self, root: Path, random: Random, **options: object) -> None:
        root.mkdir(parents=True)
        self.root, self.random = root, random
        self.options = {"length": 12, "trials": 3, "pace_s": 0.03, "seed": random.getrandbits(20), **options}
        self.folder = Path(str(self.options.get("storage", root)), "chaos")
        self.mark = f"{os.getpid()}-{root.name}-{random.getrandbits(32):x}"
        self.log: list[str] = []
        self._driver: subprocess.Popen[bytes] | None = None
        self._began = time.monotonic()

    # --- the driver --------------------------------------------------------------------

    def start(self) -> None:
        """Start, or resume."""
        self.say("start")
        with open(self.root / "stderr", "ab") as stderr:
            self._driver = subprocess.Popen(
                [sys.executable, str(HERE / "driver.py"), str(self.root), json.dumps(self.options)],
                env={**os.environ, checks.MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                start_new_session=True,
            )

    @property
    def driver(self) -> int:
        assert self._driver is not None
        return self._driver.pid

    @property
    def is_running(self) -> bool:
        return self._driver is not None and self._driver.poll() is None

    def wait_for_results(self, n: int) -> None:
        """Until the driver has acknowledged so many, or is gone."""
        deadline = time.monotonic() + PATIENCE_S
        while self.is_running and sum(map(len, checks.acknowledged(self.root).values())) < n:
            assert time.monotonic() < deadline, f"no {n} results within {PATIENCE_S:g} s"
            time.sleep(0.005)

    def wait_a_moment(self, at_most_s: float) -> None:
        """Let it go on for a while."""
        time.sleep(self.random.uniform(0, at_most_s))

    def kill(self) -> None:
        """kill -9, and what must be true at once: nothing acknowledged is lost, and nobody stays."""
        self.say("kill -9")
        assert self._driver is not None
        self._driver.kill()
        self._driver.wait()
        checks.nothing_runs(self.mark)
        checks.nothing_acknowledged_is_lost(self.root, self.folder)

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Ask the driver to end in order."""
        self.say(f"signal {number}")
        assert self._driver is not None
        self._driver.send_signal(number)
        self._driver.wait(PATIENCE_S)

    def finish(self) -> None:
        """Let it come to its end, resumed as often as that takes; then all must be well."""
        for _ in range(5):
            if not self.is_running:
                if (self.root / "done").exists():
                    break
                self.start()
            assert self._driver is not None
            try:
                self._driver.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._driver.send_signal(signal.SIGUSR1)
                time.sleep(0.5)
                raise AssertionError(f"stuck: not done after {PATIENCE_S:g} s") from None
        assert (self.root / "done").exists(), "it does not come to its end"
        checks.nothing_runs(self.mark)
        checks.nothing_acknowledged_is_lost(self.root, self.folder)
        checks.all_agree(self.folder, bool(self.options.get("tensorboard", True)))
        checks.all_ended(self.folder, int(str(self.options["trials"])), int(str(self.options["length"])))

    def end(self) -> None:
        """Leave nothing behind, whatever happened."""
        for _ in range(50):
            left = checks.processes(self.mark)
            if not left:
                break
            for pid in left:
                hurt(pid, signal.SIGKILL)
            time.sleep(0.02)
        if self._driver is not None:
            self._driver.wait()

    # --- what is hurt ------------------------------------------------------------------

    def pids(self, what: str) -> list[int]:
        """The processes of its trials, or of their warm server."""
        found = checks.processes(self.mark)
        mine = [pid for pid, line in found.items() if pid != self.driver and "overtone.observers" not in line]
        servers = [pid for pid in mine if parent_of(pid) == self.driver]
        if what == "server":
            return servers
        return [pid for pid in mine if parent_of(pid) in servers]

    def say(self, what: str) -> None:
        self.log.append(f"{time.monotonic() - self._began:7.3f} s  {what}")

    def report(self) -> str:
        """All that helps to see what went wrong."""
        stderr = (self.root / "stderr").read_text(errors="replace")[-4000:]
        return "\n".join([f"{self.root} {json.dumps(self.options)}", *self.log, stderr])


def hurt(pid: int, number: int) -> bool:
    """Send a signal; whether there was somebody to get it."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def parent_of(pid: int) -> int:
    try:
        return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def guarded(suffering: Suffering, ordeal: Callable[[], None]) -> None:
    """Let it suffer; a failure tells all, and keeps the folder."""
    try:
        ordeal()
    except BaseException as error:
        if isinstance(error, Exception):
            raise AssertionError(f"{type(error).__name__}: {error}\n{suffering.report()}") from error
        raise
    else:
        shutil.rmtree(suffering.root, ignore_errors=True)
    finally:
        suffering.end()
