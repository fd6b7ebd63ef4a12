"""Sweeps of programs that the tests write, each in its own process."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest


def overtone(*words, cwd, env=None, check=True, timeout=800):
    """Run `overtone ...` and return its output; `check` fails the test if the command fails."""
    done = subprocess.run(
        [sys.executable, "-m", "overtone", *map(str, words)], cwd=cwd, capture_output=True, text=True,
        timeout=timeout, env={**os.environ, **(env or {})},
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def begun(*words, cwd, output):
    """Begin `overtone ...` with its output in a file, and return the process."""
    with open(output, "wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "overtone", *map(str, words)], cwd=cwd, stdout=file, stderr=file, start_new_session=True
        )  # fmt: skip


def results(folder):
    """Return the results of each trial, by trial id."""
    return {
        path.parent.name: [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted(Path(folder).glob("*/result.json"))
    }


def await_that(condition, what, timeout_s=300.0):
    """Wait until a condition holds, and return its value."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not happen within {timeout_s:g} s")
        time.sleep(0.02)
    return value


def processes_with(mark):
    """Return the pids of processes whose environment has a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def only_folder(base):
    """Return the one experiment below a folder."""
    (journal,) = Path(base).glob("*/journal.jsonl")
    return journal.parent


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
