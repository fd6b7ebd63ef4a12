"""Submitted runs on a head: they outlive connections, and their logs and exit statuses are whole."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from overtone.cluster.following import Following, Screen
from overtone.cluster.head import Head
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.run_folder import new_id
from tests.launcher.submit.local_head import LocalRemote


@pytest.fixture
def head(tmp_path: Path) -> Iterator[Head]:
    remote = LocalRemote(tmp_path / "head")
    (remote.home / "overtone_work").mkdir()
    yield Head(remote)
    for folder in (remote.home / ".overtone" / "cluster" / "runs").glob("*-*"):
        if not (folder / "exit").exists() and (folder / "pid").exists():
            os.killpg(json.loads((folder / "pid").read_text())["pid"], signal.SIGKILL)


def begun(head: Head, code: str, terminal: Any = None, begin: bool = True, **facts: Any) -> str:
    """Write a script on the head, and begin it."""
    assert isinstance(head.remote, LocalRemote)
    (head.remote.home / "overtone_work" / "script.py").write_text(code)
    run_id = new_id()
    command = {
        "command": [None, "script.py"], "directory": "~/overtone_work", "key": "script.py", "cluster": "c",
        "terminal": terminal, **facts,
    }  # fmt: skip
    assert head.prepare(run_id, command) is None
    if begin:
        head.begin(run_id)
    return run_id


def facts_of(head: Head, run_id: str) -> dict[str, Any]:
    return next(facts for facts in head.runs() if facts["id"] == run_id)


def log(head: Head, run_id: str) -> bytes:
    found = bytearray()

    def feed(offset: int, data: bytes) -> None:
        assert offset == len(found)
        found.extend(data)

    head.follow(run_id, 0, feed)
    return bytes(found)


def test_a_run_gives_its_log_and_its_status(head):
    run_id = begun(head, "import sys; print('one'); print('two', file=sys.stderr); sys.exit(7)")
    assert log(head, run_id) == b"one\ntwo\n"
    facts = facts_of(head, run_id)
    assert (facts["state"], facts["status"]) == ("ended", 7)


def test_a_terminal_is_given_with_its_size(head):
    code = "import os, sys; print(os.isatty(1), tuple(os.get_terminal_size()), os.environ['TERM'])"
    terminal = {"size": [91, 17], "environment": {"TERM": "xterm"}}
    assert log(head, begun(head, code, terminal)) == b"True (91, 17) xterm\r\n"


def test_a_size_that_changes_reaches_the_script(head):
    code = """
import os, signal
changed = []
signal.signal(signal.SIGWINCH, lambda *_: changed.append(1))
print("ready")
while not changed: signal.pause()
print(tuple(os.get_terminal_size()))
"""
    run_id = begun(head, code, {"size": [80, 24], "environment": {}})
    said = []

    def feed(offset: int, data: bytes) -> None:
        said.append(data)
        if b"ready" in data:
            head.resize(run_id, 33, 44)

    head.follow(run_id, 0, feed)
    assert b"(33, 44)" in b"".join(said)


def test_a_script_killed_by_a_signal_has_the_status_of_a_shell(head):
    run_id = begun(head, "import os; os.kill(os.getpid(), 9)")
    log(head, run_id)
    assert facts_of(head, run_id)["status"] == 137


def test_a_missing_command_is_an_exit_status_too(head):
    run_id = begun(head, "", command=["no-such-program"])
    assert b"no-such-program" in log(head, run_id)
    assert facts_of(head, run_id)["status"] == 127


def test_stop_is_a_keyboard_interrupt_though_it_runs_in_the_background(head):
    code = """
import time
print("ready", flush=True)
try:
    while True: time.sleep(60)
except KeyboardInterrupt:
    print("saved")
    raise SystemExit(5)
"""
    run_id = begun(head, code)
    said = []

    def feed(offset: int, data: bytes) -> None:
        said.append(data)
        if b"ready" in data:
            assert head.stop(run_id)

    head.follow(run_id, 0, feed)
    assert b"".join(said) == b"ready\nsaved\n"
    assert facts_of(head, run_id)["status"] == 5
    assert not head.stop(run_id)


def test_a_second_driver_of_a_run_ends_at_once(head, tmp_path):
    code = f"""
import os, time
print("begun", flush=True)
while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.01)
"""
    run_id = begun(head, code)

    def feed(offset: int, data: bytes) -> None:
        if b"begun" in data:
            head.remote.run(f"python3 -m overtone.cluster.driver run {run_id}")  # it ends
            (tmp_path / "go").touch()

    head.follow(run_id, 0, feed)
    assert log(head, run_id) == b"begun\n"
    head.remote.run(f"python3 -m overtone.cluster.driver run {run_id}")  # nor does it begin again
    assert log(head, run_id) == b"begun\n"


def test_a_driver_killed_once_the_script_runs_leaves_one_script(head, tmp_path):
    code = f"""
import os, time
print("begun", flush=True)
while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.01)
"""
    run_id = begun(head, code, begin=False)
    killed = f"""
import os, subprocess, sys
from overtone.cluster import driver
class Popen(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        os.kill(os.getpid(), 9)
subprocess.Popen = Popen
driver.main(["run", {run_id!r}])
"""
    head.remote.run(f"python3 -c {quote(killed)}")
    assert facts_of(head, run_id)["state"] == "running"
    head.remote.run(f"python3 -m overtone.cluster.driver run {run_id}")  # it ends
    (tmp_path / "go").touch()
    assert log(head, run_id) == b"begun\n"
    assert facts_of(head, run_id)["state"] == "lost"


def test_the_same_script_is_not_begun_twice(head):
    first = begun(head, "print(1)", begin=False)
    command = {"command": [None, "script.py"], "directory": "~", "key": "script.py", "cluster": "c"}
    running = head.prepare(new_id(), command)
    assert running is not None
    assert (running["id"], running["state"]) == (first, "waiting")
    assert head.prepare(first, {**command, "terminal": None, "directory": "~/overtone_work"}) is None  # asked again
    head.begin(first)
    log(head, first)
    assert head.prepare(new_id(), command) is None


def test_a_driver_that_was_terminated_leaves_no_status_and_resumes(head):
    code = """
import json, os, signal, time
if "OVERTONE_RESUME" in os.environ:
    print("goes on with", os.environ["OVERTONE_RESUME"])
    raise SystemExit(0)
with open(os.environ["OVERTONE_EXPERIMENT_LIST"], "a") as file:
    print(json.dumps({"folder": "/x/digits", "url": None}), file=file)
print("ready", flush=True)
while True: time.sleep(60)
"""
    run_id = begun(head, code, requeues=True)

    def feed(offset: int, data: bytes) -> None:
        if b"ready" in data:
            folder = head.remote.home / ".overtone" / "cluster" / "runs" / run_id
            script = json.loads((folder / "pid").read_text())["pid"]
            driver = int(Path(f"/proc/{script}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(driver, signal.SIGTERM)
            raise StopIteration

    with pytest.raises(StopIteration):
        head.follow(run_id, 0, feed)
    while facts_of(head, run_id)["state"] != "waiting":
        time.sleep(0.01)
    head.begin(run_id)
    assert log(head, run_id).endswith(b"goes on with /x/digits\n")
    assert facts_of(head, run_id)["status"] == 0


def test_a_lost_connection_neither_doubles_nor_loses_a_byte(head, tmp_path, capfd):
    line = "x" * 1_000_000  # half a line of 1 MB, and then the rest
    run_id = begun(head, f"import sys; sys.stdout.write({line!r}); print('end'); print('\\u00e4' * 30000)")
    head.remote.cuts = [1, 40, 70, 100, 5000, 300_000, 700_000]
    said: list[str] = []
    with (tmp_path / "out").open("wb") as out:
        Following(head, run_id, Screen(out.fileno()), say=said.append, sleep=lambda s: None).to_end()
    expected = line + "end\n" + "\u00e4" * 30000 + "\n"
    assert (tmp_path / "out").read_bytes() == expected.encode()
    assert head.remote.n_streams == 8
    assert said


def test_a_head_that_stays_away_is_given_up(head, tmp_path):
    run_id = begun(head, "print(1)")
    head.remote.is_gone = True
    times = iter(range(0, 1000, 10))
    with (tmp_path / "out").open("wb") as out, pytest.raises(UnreachableError):
        Following(
            head, run_id, Screen(out.fileno()), patience_s=90, clock=lambda: next(times), sleep=lambda s: None
        ).to_end()
    assert next(times) == 110


def test_a_reader_from_the_end_begins_there(head, tmp_path):
    run_id = begun(head, "print('first'); print('last')")
    log(head, run_id)
    with (tmp_path / "out").open("wb") as out:
        Following(head, run_id, Screen(out.fileno()), offset=-5).to_end()
    assert (tmp_path / "out").read_text() == "last\n"


def test_an_unknown_run_is_an_error(head):
    with pytest.raises(RemoteError, match="no run 20260101-000000-abcdef"):
        head.follow("20260101-000000-abcdef", 0, lambda offset, data: None)


def test_output_that_nobody_reads_does_not_stop_the_reader(head):
    reader, writer = os.pipe()
    os.close(reader)
    screen = Screen(writer)
    screen.write(b"x" * 100_000)
    screen.write(b"y")
    os.close(writer)
