"""Random faults, the same ones each time: 15 in CI, 50 else; `make chaos` does a thousand others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "chaos" / "run.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("faults", [15, pytest.param(50, marks=pytest.mark.full)])
def test_faults_lose_nothing(faults: int) -> None:
    command = [sys.executable, str(RUN), "--faults", str(faults), "--minutes", "2", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing lost" in done.stdout
