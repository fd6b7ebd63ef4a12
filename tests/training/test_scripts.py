"""Scripts for other libraries in two ranks: each has at most 15 lines more than the one for one process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).with_name("scripts")
MOST_LINES = 15
LIBRARIES = ["accelerate", "lightning", "transformers"]


def run(script, folder):
    environment = {**os.environ, "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, SCRIPTS / script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("library", LIBRARIES)
def test_few_lines_change(library):
    texts = [Path(SCRIPTS, f"{library}_{form}.py").read_text().splitlines() for form in ("plain", "in_ranks")]
    changes = list(unified_diff(*texts, n=0, lineterm=""))[2:]
    assert 0 < sum(line.startswith("+") and line != "+" for line in changes) <= MOST_LINES
    assert sum(line.startswith("-") for line in changes) <= MOST_LINES


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_runs_in_two_ranks(library, tmp_path):
    metrics = ast.literal_eval(run(f"{library}_in_ranks.py", tmp_path).splitlines()[-1])
    assert metrics["training_iteration"] >= 2
    (folder,) = Path(tmp_path, "overtone_results").glob(f"TorchTrainer_*/{metrics['trial_id']}")
    files = {str(one.relative_to(folder)) for one in folder.glob("checkpoint_*/**/*")}
    last = f"checkpoint_{metrics['training_iteration']:06d}"
    if library == "accelerate":
        assert metrics["processes"] == 2
    if library == "lightning":
        assert metrics["step"] == metrics["training_iteration"] * 4  # 32 rows, 4 in each of 2 ranks
        assert f"{last}/checkpoint.ckpt" in files
    if library == "transformers":
        assert {f"{last}/checkpoint/rng_state_{rank}.pth" for rank in (0, 1)} <= files
        assert metrics["eval_loss"] > 0


def test_a_lightning_trainer_with_processes_of_its_own_is_refused():
    import lightning.pytorch as pl

    from overtone.train.lightning import RayDDPStrategy, prepare_trainer

    quiet = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False}
    with pytest.raises(ValueError, match=r"use Trainer\(strategy=RayDDPStrategy\(\)"):
        prepare_trainer(pl.Trainer(**quiet))
    with pytest.raises(ValueError, match=r"plugins=\[RayLightningEnvironment\(\)\]"):
        prepare_trainer(pl.Trainer(strategy=RayDDPStrategy(), **quiet))
