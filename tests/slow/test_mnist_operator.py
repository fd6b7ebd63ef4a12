"""The example of an operator: a search over trainings on one and on two workers, on generated digits."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "mnist_operator.py"


@pytest.mark.timeout(300)
def test_a_small_run_ends_with_a_model(tmp_path: Path) -> None:
    options = ["--smoke", "--workers", "1", "2", "--storage", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), *options], capture_output=True, text=True, timeout=280
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "TorchTrainable_" in ran.stdout
    accuracy = re.search(r"Accuracy of its last checkpoint: (0\.\d+)", ran.stdout)
    assert accuracy, ran.stdout
    assert accuracy[1] == f"{max(accuracies(ran.stdout)):.4f}"


def accuracies(output: str) -> list[float]:
    """The accuracies in the last table of trials."""
    rows = [
        line.split("|")
        for line in output.rpartition("== Status ==")[2].splitlines()
        if "TorchTrainable_" in line
    ]
    return [float(row[6]) for row in rows if len(row) > 7]
