from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from overtone.worker import process_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_this_process_is_a_child_of_its_parent() -> None:
    assert (os.getpid(), os.getppid()) in set(process_tree.parents())


def test_both_ways_to_find_children_agree() -> None:
    by_stat = {child for child, parent in process_tree.parents() if parent == os.getpid()}
    assert process_tree.children(os.getpid()) == by_stat


def test_a_helper_ends_with_its_parent_where_the_kernel_says_nothing(tmp_path) -> None:
    """The parent ends, and the other end of the helper's pipe stays open, as in a child that it has forked."""
    helper = (
        "import sys, time; from overtone.worker import process_tree; process_tree._libc = None; process_tree.LOOK_EVERY_S = 0.05;"
        "process_tree.end_with(int(sys.argv[1])); print('up', flush=True); sys.stdin.read()"
    )
    parent = (
        "import os, subprocess, sys\n"
        "command = [sys.executable, '-c', sys.argv[1], str(os.getpid())]\n"
        "child = subprocess.Popen(command, stdin=int(sys.argv[2]), stdout=subprocess.PIPE)\n"
        "assert child.stdout.readline(); print(child.pid)"
    )
    read, write = os.pipe()
    try:
        command = [sys.executable, "-c", parent, helper, str(read)]
        done = subprocess.run(
            command, pass_fds=[read], capture_output=True, text=True, check=True, timeout=30
        )
        give_up_at = time.monotonic() + 60
        while os.path.exists(f"/proc/{int(done.stdout)}") and not _is_zombie(int(done.stdout)):
            assert time.monotonic() < give_up_at
            time.sleep(0.02)
    finally:
        os.close(read)
        os.close(write)


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
