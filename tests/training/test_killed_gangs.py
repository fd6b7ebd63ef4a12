"""Ranks and heads that are killed at random: tests/chaos/gangs.py, a few of the kills of `make proof`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHAOS = Path(__file__).parents[1] / "chaos" / "gangs.py"


@pytest.mark.full
def test_nothing_is_left_of_killed_gangs_and_no_step_is_lost(tmp_path: Path) -> None:
    command = [sys.executable, str(CHAOS), "--kills", "6", "--seed", "2"]
    run = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "no process and no port is left, no step lost" in run.stdout
