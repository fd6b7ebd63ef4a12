"""Drivers that begin the same experiment within 0.3 s: exactly one runs; `make proof` plays more rounds."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "chaos/race.py"
_HAS_S3 = os.environ.get("CI") == "true" or all(map(importlib.util.find_spec, ("moto", "s3fs", "flask")))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("rounds", [4, pytest.param(20, marks=pytest.mark.full)])
def test_one_of_many_drivers_runs_and_all_others_are_refused(rounds):
    command = [sys.executable, str(SCRIPT), "--rounds", str(rounds), *([] if _HAS_S3 else ["--no-s3"])]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 rounds went wrong" in found.stdout
