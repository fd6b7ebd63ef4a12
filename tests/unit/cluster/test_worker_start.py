"""Ray is started once on a worker, however many start it at the same moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overtone.cluster.local.worker_start import MODULE
from overtone.cluster.marked_processes import MARK, end_marked, marked

NAME = f"once-{os.getpid()}"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def begin(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """Start a command by the module under test, as on a worker of the cluster."""
    environment = {
        **os.environ,
        MARK: NAME,
        "OVERTONE_CLUSTER_FOLDER": str(folder),
        "RAY_CLOUD_INSTANCE_ID": "10.0.0.2",
    }
    return subprocess.Popen([sys.executable, "-m", MODULE, NAME, "sh", "-c", command], env=environment)


def test_two_starts_at_the_same_moment_leave_one_daemon(tmp_path: Path) -> None:
    (tmp_path / "raylet").symlink_to(sys.executable)  # a process is named after its file
    daemon = f"{tmp_path}/raylet -ISc 'import time; time.sleep(1000)'"
    command = f"sleep 0.5; echo started >> {tmp_path}/starts; {daemon} & sleep 1"
    try:
        starts = [begin(tmp_path, command) for _ in range(3)]
        assert [start.wait() for start in starts] == [0, 0, 0]
        assert (tmp_path / "starts").read_text() == "started\n"
        assert [process.name() for process in marked(NAME)] == ["raylet"]
    finally:
        assert end_marked(NAME) == []


def test_a_start_that_fails_is_tried_by_the_next(tmp_path: Path) -> None:
    assert [begin(tmp_path, f"echo tried >> {tmp_path}/tries; exit 3").wait() for _ in range(2)] == [3, 3]
    assert (tmp_path / "tries").read_text() == "tried\ntried\n"
