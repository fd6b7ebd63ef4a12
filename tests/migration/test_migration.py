"""Scripts as people wrote them for Ray Tune 0.x, 1.x and 2.x: with the import changed they run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).with_name("migrated")

EXPECTED = {
    "quickstart_1x.py": [
        "Best config:  0.1",
        "rows 3 columns True",
        "dataframe 3",
        *["frame 10 True"] * 3,
    ],
    "keras_1x.py": [
        "Best hyperparameters found were:  ['epochs', 'hidden', 'lr', 'momentum', 'threads']",
        "iterations True",
        "nested True",
    ],
    "cifar_1x.py": [
        "Best trial config: ['batch_size', 'l1', 'l2', 'lr']",
        "Best trial final validation loss: True",
        "Best trial final validation accuracy: True",
        "Best trial test set accuracy: True (3,)",
        "stopped early True",
    ],
    "class_1x.py": [
        "Best hyperparameters found were:  ['height', 'width']",
        "logdir True True",
        "paths 2",
        "saved True",
        "configs 3",
        "means ['avg', 'last', 'last-10-avg', 'last-5-avg', 'max', 'min']",
        "again 3",
    ],
    "logging_1x.py": [
        "terminated 2",
        "iterations [5, 5]",
        "names True",
        "folders ['easy_objective_0', 'easy_objective_1']",
        "logged [6, 6]",
        "pretty True",
    ],
    "tuner_2x.py": [
        "True",
        "trials 6 0 6",
        "columns (6, 3)",
        "folder True True",
        "x 6",
        "kept [2, 2, 2, 2, 2, 2]",
        "frame 6 True",
        "same True 6",
    ],
    "air_2x.py": [
        "best 0.5 5 6",
        "epochs [6, 6, 6, 6]",
        "errors [] 0",
        "since restore [3, 3, 6, 6]",
    ],
    "train_2x.py": [
        "errors 2 of 6",
        "best 1000 True 4",
        "note train_2x",
        "checkpoints [True, True]",
        "frames [4, 4, 4, 4]",
        "constant [2, 2]",
        "opened 6 train_2x",
        "links 6",
    ],
    "data_1x.py": [
        "loss True",
        "first {'lr': 0.9, 'l2': 0}",
        "trials 4 {'TERMINATED'}",
        "scopes True",
    ],
    "early_1x.py": [
        "Best config: [4, 9] True",
        "restored [5, 6]",
        "logged 12",
        "tracked 0.9",
    ],
    "pinned_0x.py": [
        "lines [4, 4, 4]",
        "best {'units': 3} weights of 3",
    ],
    "files_1x.py": [
        "best True (4, 3)",
        "gaps {'down': 0.016, 'up': 3.456}",
    ],
    "population_1x.py": [
        *["ended [6, 6, 6, 6] True"] * 2,
    ],
    "objects_2x.py": [
        "stopped [4, 4] 6",
        "printed x is 0.8",
        "named True ['drop', 'layers', 'rate', 'reg']",
        "again True",
    ],
    "experiments_0x.py": [
        "first [20, 10]",
        "second 5 [20, 20, 20, 20, 10]",
        "third {'alpha': 1.5} {'alpha': 1.5}",
    ],
}


def test_every_script_is_known():
    assert sorted(EXPECTED) == sorted(path.name for path in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script_runs_with_the_import_changed(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(SCRIPTS / name), "--smoke-test"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "Traceback" not in output
    lines = done.stdout.splitlines()
    assert [line for line in EXPECTED[name] if line not in lines] == [], output
