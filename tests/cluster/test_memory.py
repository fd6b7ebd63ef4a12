"""A node's memory runs short under Ray's memory monitor: one trial fails, and it is the right one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "chaos" / "memory.py"


@pytest.mark.parametrize("case", ["two", "limits", pytest.param("ray-first", marks=pytest.mark.full)])
def test_the_greediest_trial_fails_and_the_others_go_on(case: str) -> None:
    """All cases, more rounds and quicker growth: make proof."""
    command = [sys.executable, str(SCRIPT), "--case", case, "--rounds", "1", "--growth", "200000000"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    # a cluster of its own, beside that of the other tests
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as script:
        try:
            text, _ = script.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            script.terminate()  # it ends all that runs in its control group
            raise
    if script.returncode == 77:
        pytest.skip("no control group can be made here")
    assert script.returncode == 0, text
