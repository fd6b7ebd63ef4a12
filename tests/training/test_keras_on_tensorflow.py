"""Keras on TensorFlow: its example reports the framework's own history, also after a kill."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pathlib import Path

sys.path.insert(0, "tests/integrations")
import keras
from training_runs import check_curve

assert keras.backend.backend() == "tensorflow"
from overtone.train.tensorflow.keras import ReportCheckpointCallback
from overtone.tune.integration.keras import TuneReportCheckpointCallback

assert issubclass(TuneReportCheckpointCallback, ReportCheckpointCallback)
names = {"loss": "loss", "val_accuracy": "val_accuracy"}
check_curve("keras_digits", {"units": 32, "lr": 0.01}, names, Path(sys.argv[1]))
"""


@pytest.mark.full
def test_a_killed_training_has_the_history_of_keras(tmp_path: Path) -> None:
    """Keras chooses its backend at its import: in a process of its own."""
    pytest.importorskip("tensorflow")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
