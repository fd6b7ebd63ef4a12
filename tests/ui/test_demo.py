"""`overtone demo` in a terminal: its driver is killed at every moment, and Ctrl-C ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from tests.ui.harness import WITHIN_S, full, read_records

QUICK = ["--no-browser", "--trials", "9", "--passes", "1"]


class Demo:
    """A running demo.

    Attributes:
        process: The supervisor.
        results: The folder with its folder.
    """

    def __init__(
        self, results: Path, *options: str, program: Sequence[str] = (), cwd: Path | None = None
    ) -> None:
        self.results = results
        self.process = subprocess.Popen(
            [*(program or (sys.executable, "-m", "overtone")), "demo", "--dir", str(results), *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"}, cwd=cwd,
        )  # fmt: skip

    @property
    def folder(self) -> Path:
        (folder,) = self.results.glob("overtone_demo_*")
        return folder

    def records(self) -> list[dict]:
        try:
            return read_records(self.folder / "journal.jsonl")
        except (FileNotFoundError, ValueError):  # it is not there yet
            return []

    def wait_for(self, is_there) -> None:
        """Wait until `is_there(records of the journal)`."""
        give_up_at = time.monotonic() + WITHIN_S
        while not is_there(self.records()):
            assert time.monotonic() < give_up_at, "not in time"
            assert self.process.poll() is None, self.process.communicate()[0]
            time.sleep(0.02)

    def driver(self) -> psutil.Process | None:
        for child in psutil.Process(self.process.pid).children():
            try:
                if "overtone.demo.search" in child.cmdline():
                    return child
            except psutil.NoSuchProcess:
                pass
        return None

    def kill_driver(self, but: int = 0) -> int:
        """Kill the driver, or the next one after process `but`; return its process, or 0 if it has ended."""
        give_up_at = time.monotonic() + WITHIN_S
        while (driver := self.driver()) is None or driver.pid == but:
            if kinds(self.records())[-1:] == ["end"]:
                return 0
            assert time.monotonic() < give_up_at, "no driver"
            time.sleep(0.01)
        driver.kill()
        return driver.pid

    def output(self) -> str:
        return self.process.communicate(timeout=WITHIN_S)[0]


@pytest.fixture
def start(tmp_path):
    demos = []

    def started(*options: str, **places) -> Demo:
        demos.append(Demo(tmp_path / "results", *options, **places))
        return demos[-1]

    yield started
    for demo in demos:
        left = (
            psutil.Process(demo.process.pid).children(recursive=True) if demo.process.poll() is None else []
        )
        demo.process.send_signal(signal.SIGTERM)
        demo.process.communicate(timeout=WITHIN_S)
        assert psutil.wait_procs(left, timeout=WITHIN_S)[1] == []


def kinds(records) -> list[str]:
    return [record["e"] for record in records]


def test_it_ends_with_the_commands_that_show_its_results(start):
    demo = start(*QUICK)
    output = demo.output()
    assert demo.process.returncode == 0
    records = demo.records()
    assert [record["n"] for record in records] == list(range(1, len(records) + 1))
    assert kinds(records)[-1] == "end"
    assert kinds(records).count("ended") == 9
    assert f"look at the results again: overtone ui {demo.folder}" in output
    assert "resume the search" not in output


def test_a_driver_that_is_killed_twice_and_during_its_resume_loses_nothing(start):
    demo = start("--no-browser", "--trials", "12", "--passes", "3")  # enough that three kills hit it
    demo.wait_for(lambda records: kinds(records).count("reported") > 20)
    first = demo.kill_driver()
    before = demo.records()
    second = demo.kill_driver(but=first)  # as soon as it is there
    demo.wait_for(lambda records: "driver" in kinds(records))
    demo.wait_for(lambda records: len(records) > len(before) + 10)
    demo.kill_driver(but=second)
    output = demo.output()
    assert demo.process.returncode == 0
    assert demo.records()[: len(before)] == before
    assert output.count("was killed; resuming") == 3
    assert kinds(demo.records()).count("driver") >= 2


@pytest.mark.parametrize(
    "moment",
    [pytest.param("at once", marks=full), "before the first trial", pytest.param("at the end", marks=full)],
)
def test_a_driver_that_is_killed_at_an_odd_moment_is_resumed(start, moment):
    demo = start(*QUICK)
    if moment == "before the first trial":
        demo.wait_for(lambda records: len(records) >= 1)
    elif moment == "at the end":
        demo.wait_for(lambda records: kinds(records).count("ended") >= 9)
    killed = demo.kill_driver()
    output = demo.output()
    assert demo.process.returncode == 0, output
    assert "was killed; resuming" in output or (not killed and moment == "at the end")
    assert demo.records()[-1]["e"] == "end"


def test_ctrl_c_ends_every_process_and_says_how_to_go_on(start):
    demo = start("--no-browser", "--trials", "20", "--passes", "20")
    demo.wait_for(lambda records: kinds(records).count("reported") > 3)
    processes = psutil.Process(demo.process.pid).children(recursive=True)
    os.kill(demo.process.pid, signal.SIGINT)
    output = demo.output()
    assert demo.process.returncode == 130
    assert f"resume the search: overtone resume {demo.folder}" in output
    command = [sys.executable, "-m", "overtone", "resume", str(demo.folder), "--dry-run"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=WITHIN_S)
    assert f"-m overtone.demo.search {demo.folder}" in shown.stdout + shown.stderr
    assert psutil.wait_procs(processes, timeout=WITHIN_S)[1] == []


def test_a_killed_supervisor_takes_its_processes_along(start):
    demo = start("--no-browser", "--passes", "20")
    demo.wait_for(lambda records: kinds(records).count("reported") > 1)
    processes = psutil.Process(demo.process.pid).children(recursive=True)
    demo.process.kill()
    assert psutil.wait_procs(processes, timeout=WITHIN_S)[1] == []


def test_ctrl_c_after_the_search_closes_the_page(start):
    command = "import sys; sys.stdout.isatty = lambda: True; from overtone.cli import main; sys.exit(main())"
    demo = start(*QUICK, program=(sys.executable, "-c", command))
    before = ""
    while "the page stays until Ctrl-C" not in before:
        line = demo.process.stdout.readline()
        assert line, before
        before += line
    os.kill(demo.process.pid, signal.SIGINT)
    after = demo.output()
    assert demo.process.returncode == 0
    assert "look at the results again" in after
    assert "resume the search" not in after


def test_modules_in_the_working_directory_are_not_imported(start, tmp_path):
    where = tmp_path / "mine"
    where.mkdir()
    for name in ("queue", "html", "numpy", "uvicorn"):
        (where / f"{name}.py").write_text(f"raise SystemExit('the {name}.py of the user was imported')")
    command = "import sys; del sys.path[0]; from overtone.cli import main; sys.exit(main())"
    demo = start(*QUICK, program=(sys.executable, "-c", command), cwd=where)
    output = demo.output()
    assert demo.process.returncode == 0, output
    assert "was imported" not in output
    assert "the page of this search" in output


@full
def test_two_demos_have_folders_of_their_own(start):
    demos = [start("--no-browser", "--trials", "1", "--passes", "1") for _ in range(2)]
    outputs = [demo.output() for demo in demos]
    assert [demo.process.returncode for demo in demos] == [0, 0], outputs
    assert len(list(demos[0].results.glob("overtone_demo_*"))) == 2
