"""The article's listing of a TrainingOperator, run as a user runs it: on MNIST where it is, with ASHA."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MNIST = HERE.parents[2] / "shared/data/mnist"  # beside the repository, where there is one
COLUMNS = ["Trial name", "status", "loc", "lr", "momentum", "acc", "iter", "total time (s)", "num_samples", "epoch",
           "batch_count"]  # fmt: skip


@pytest.mark.parametrize("precision", ["fp16", pytest.param("fp32", marks=pytest.mark.full)])
def test_the_articles_operator(tmp_path, precision):
    path = os.pathsep.join([str(HERE.parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": path, "COLUMNS": "240"}
    environment |= {"OVERTONE_MNIST_DIR": str(MNIST)} if MNIST.is_dir() else {}
    done = subprocess.run(
        [sys.executable, str(HERE / "listings/article_operator.py"), precision, "500"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "Best config is: {'lr':" in done.stdout
    last = done.stdout[done.stdout.rindex("== Status ==") :]
    assert "Using AsyncHyperBand: num_stopped=" in last
    table = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in last.splitlines()
        if line[:2] == "| "
    ]
    assert table[0] == COLUMNS
    assert len(table) == 5
    for row in table[1:]:
        values = dict(zip(COLUMNS, row, strict=False))
        assert values["Trial name"].startswith("TorchTrainable_")
        assert (values["num_samples"], values["batch_count"]) == ("500", "4")
    assert (tmp_path / "result.csv").exists()
