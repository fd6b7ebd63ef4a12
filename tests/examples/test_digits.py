"""The demo, with fewer trials and fewer passes: it ends, and says what a user needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DIGITS = Path(__file__).parents[2] / "examples" / "digits.py"


def test_the_demo_ends_with_the_best_configuration(tmp_path: Path) -> None:
    command = [sys.executable, str(DIGITS), "--trials", "6", "--passes", "1", "--storage", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Best configuration: {" in run.stdout
    by_last_value = re.search(r"best by last value: validation_accuracy=(\S+) by", run.stdout)
    validation = re.search(r"Validation accuracy: (\S+)", run.stdout)
    assert by_last_value
    assert validation
    assert abs(float(by_last_value[1]) - float(validation[1])) < 1e-4
    accuracy = re.search(r"Test accuracy: (0\.\d+)", run.stdout)
    assert accuracy, run.stdout
    assert float(accuracy[1]) > 0.8
    folder = re.search(r"Results: (.+)", run.stdout)
    assert folder
    assert Path(folder[1], "journal.jsonl").exists()
    assert len(list(Path(folder[1]).glob("*/result.json"))) == 6
