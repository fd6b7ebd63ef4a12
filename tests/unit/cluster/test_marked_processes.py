"""Processes of a cluster are found by their mark, and by their parents."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from overtone.cluster.marked_processes import MARK, end_marked, head_address, marked

NAME = f"cluster-{os.getpid()}"
PARENT = """
import os, subprocess, sys
clean = {name: value for name, value in os.environ.items() if name != sys.argv[1]}
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], env=clean)
print(child.pid, flush=True)
input()
"""


@pytest.fixture
def family() -> Iterator[list[int]]:
    """A marked process, and its child without a mark."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, MARK], env={**os.environ, MARK: NAME}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert parent.stdout is not None
    yield [parent.pid, int(parent.stdout.readline())]
    parent.kill()
    parent.communicate()


def test_a_family_is_found_and_ended(family: list[int]) -> None:
    assert sorted(one.pid for one in marked(NAME)) == sorted(family)
    assert marked(f"{NAME}-other") == []
    assert end_marked(NAME) == []
    assert marked(NAME) == []
    assert not any(psutil.pid_exists(pid) for pid in family[1:])


def test_known_processes_are_ended_without_their_parents(family: list[int]) -> None:
    known = marked(NAME)
    psutil.Process(family[0]).kill()
    psutil.Process(family[0]).wait(10)
    assert marked(NAME) == []
    assert psutil.pid_exists(family[1])
    assert end_marked(NAME, known) == []
    assert not psutil.pid_exists(family[1])


def test_no_head_runs_here() -> None:
    assert head_address(NAME) is None
