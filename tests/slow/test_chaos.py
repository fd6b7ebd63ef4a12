"""Fifty random faults, the same ones each time; `make chaos` does a thousand others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "chaos" / "run.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
@pytest.mark.timeout(300)
def test_fifty_faults_lose_nothing() -> None:
    command = [sys.executable, str(RUN), "--faults", "50", "--minutes", "1.3", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing lost" in done.stdout
