"""Everything below a driver is stopped, and the driver is killed: nothing is left.

OVERTONE_STOPS says how often (3, of which CI does one); each takes some five seconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "chaos"))
import checks

STOPS = int(os.environ.get("OVERTONE_STOPS", "3"))
WITHIN_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")

DRIVER = """
import os, subprocess, sys, time
from pathlib import Path
from overtone import tune
from overtone.tune.search import Searcher

ROOT = Path(sys.argv[1])

class Pondering(Searcher):
    is_slow = True

    def on_trial_end(self, trial):
        pass  # it learns, and so has a process of its own

    def suggest(self, index):
        if index == 2:
            time.sleep(300)
        return {"x": index}

class Forks(tune.Callback):
    def on_trial_result(self, iteration, trials, trial, result, **info):
        if sys.argv[2] == "forks" and not (ROOT / "forked").exists():
            pid = os.fork()
            if pid == 0:
                time.sleep(300)
                os._exit(0)
            (ROOT / "forked").write_text(str(pid))

def train(config):
    subprocess.Popen(["sleep", "300"])
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    for t in range(10_000):
        tune.report({"loss": t})
        time.sleep(0.05)

tune.run(
    train, search_alg=Pondering(), num_samples=3, metric="loss", mode="min", storage_path=ROOT, name="exp",
    resources_per_trial={"cpu": 0.1}, callbacks=[Forks()], verbose=0, tensorboard=True,
)
"""

ALL = {"event_process", "searcher_process", "worker.server", "sleep"}
"""What stands in the command lines of a driver's processes, once all are there."""


class Family:
    """A driver and all that comes from it."""

    def __init__(self, root: Path, *arguments: str) -> None:
        self.mark = f"stopped-{os.getpid()}-{root.name}-{time.monotonic_ns()}"
        self.root = root
        self.driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(root), *arguments],
            env={**os.environ, checks.MARK: self.mark},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def below(self) -> dict[int, str]:
        """The command lines of the driver's processes, by pid."""
        found = checks.processes(self.mark)
        found.pop(self.driver.pid, None)
        return found

    def wait_until_complete(self, also: Callable[[], bool] = lambda: True) -> None:
        give_up_at = time.monotonic() + 90
        while True:
            lines = list(self.below().values())
            there = {kind for kind in ALL for line in lines if kind in line}
            # two trials, each with two children, which wait for a third config
            are_trials_there = sum("sleep" in line for line in lines) == 4
            has_written = any(self.root.glob("exp/*/events*"))
            if there == ALL and are_trials_there and has_written and also():
                return
            assert self.driver.poll() is None, "the driver ended"
            assert time.monotonic() < give_up_at, f"not all are there: {lines}"
            time.sleep(0.02)

    def stop(self, kind: str = "") -> None:
        """SIGSTOP to those whose command line has `kind` in it."""
        for pid, line in self.below().items():
            if kind in line:
                os.kill(pid, signal.SIGSTOP)

    def kill_driver(self, but: set[int] | None = None) -> None:
        """kill -9, and nothing but `but` is left in time."""
        self.driver.kill()
        self.driver.wait()
        give_up_at = time.monotonic() + WITHIN_S
        while left := {pid: line for pid, line in self.below().items() if pid not in (but or set())}:
            assert time.monotonic() < give_up_at, f"left after {WITHIN_S:g} s: {left}"
            time.sleep(0.02)

    def end(self) -> None:
        while left := checks.processes(self.mark):
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.driver.poll()
            time.sleep(0.02)
        self.driver.wait()


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Callable[..., Family]]:
    made: list[Family] = []

    def make(*arguments: str) -> Family:
        made.append(Family(tmp_path, *arguments))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "round", [pytest.param(i, marks=[pytest.mark.full] * (i >= 1)) for i in range(STOPS)]
)
def test_all_are_stopped_and_the_driver_is_killed(family: Callable[..., Family], round: int) -> None:
    one = family("")
    one.wait_until_complete()
    one.stop()
    one.kill_driver()


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "kind",
    ["worker.server", *(pytest.param(one, marks=pytest.mark.full) for one in ("event_process", "searcher_process"))],
)
def test_some_are_stopped_and_the_driver_is_killed(family: Callable[..., Family], kind: str) -> None:
    one = family("")
    one.wait_until_complete()
    one.stop(kind)
    one.kill_driver()


@pytest.mark.timeout(200)
@pytest.mark.parametrize("is_stopped", [pytest.param(False, marks=pytest.mark.full), True])
def test_a_child_that_the_driver_forked_keeps_nobody_alive(
    family: Callable[..., Family], is_stopped: bool
) -> None:
    one = family("forks")
    note = one.root / "forked"
    one.wait_until_complete(lambda: note.exists() and note.read_text() != "")
    forked = int(note.read_text())
    if is_stopped:
        one.stop()
    one.kill_driver(but={forked})
    assert forked in one.below()


BEGINS = """
import os, signal, sys, time
from pathlib import Path
ROOT = Path(sys.argv[1])
kind = sys.argv[2]
if kind == "helper":
    from overtone.observers.helper_processes import started
    pid = started("overtone.observers.tensorboard.event_process", str(ROOT), 0, 0).pid
elif kind == "server":
    from overtone.engines.local import prestart
    pid = prestart._start().pid
else:
    from overtone.run.searcher_process_host import ProcessHost
    from overtone.tune.search import Searcher
    class Slow(Searcher):
        is_slow = True
        def suggest(self, index):
            return {}
    pid = ProcessHost(Slow(), {}, time.monotonic, lambda: None)._begin().pid
os.kill(pid, signal.SIGSTOP)
(ROOT / "new").write_text(str(pid))
(ROOT / "new").rename(ROOT / "pid")
time.sleep(300)
"""


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Popen puts no process into a group of its own")
@pytest.mark.timeout(200)
@pytest.mark.parametrize("kind", ["helper", "server", "searcher"])
def test_a_process_that_is_stopped_before_its_python_has_begun(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-c", BEGINS, str(tmp_path), kind]
    with subprocess.Popen(command, start_new_session=True) as driver:
        try:
            give_up_at = time.monotonic() + 90
            while not (tmp_path / "pid").exists():
                assert driver.poll() is None
                assert time.monotonic() < give_up_at
                time.sleep(0.01)
            pid = int((tmp_path / "pid").read_text())
            while state(pid) != "T":
                time.sleep(0.01)
        finally:
            driver.kill()
    give_up_at = time.monotonic() + WITHIN_S
    try:
        while state(pid) not in ("gone", "Z"):
            assert time.monotonic() < give_up_at, f"left after {WITHIN_S:g} s"
            time.sleep(0.01)
    finally:
        if state(pid) == "T":
            os.kill(pid, signal.SIGKILL)
