"""Ctrl-C in a script: it ends with a line that says how to resume, and without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys, time
from overtone import tune

def train(config):
    if sys.argv[2] == "reports":
        tune.report(loss=1.0)
    print("begun", flush=True)
    while True:
        time.sleep(0.05)
        if sys.argv[2] == "reports":
            tune.report(loss=1.0)

analysis = tune.run(train, metric="loss", mode="min", name="exp", storage_path=sys.argv[1], verbose=1, grace_s=60)
print("after", analysis.best_config)
"""


@pytest.mark.parametrize(("kind", "n_signals"), [("reports", 1), ("silent", 2), ("silent", 1)])
def test_an_interrupted_script_ends_in_the_hint_to_resume(tmp_path: Path, kind: str, n_signals: int) -> None:
    script = tmp_path / "script.py"
    code = SCRIPT if n_signals == 2 else SCRIPT.replace("grace_s=60", "grace_s=0.1")
    script.write_text(code)
    command = [sys.executable, str(script), str(tmp_path / "results"), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        assert run.stdout is not None
        lines = []
        for line in run.stdout:
            lines.append(line.rstrip())
            if ("begun" in line) or (n_signals == 2 and "interrupted: letting" in line):
                run.send_signal(signal.SIGINT)
        run.wait(100)
    assert not [line for line in lines if line.startswith("Traceback")], lines
    hint = f"overtone resume {tmp_path / 'results' / 'exp'}"
    if kind == "reports":
        assert run.returncode == 0
        assert lines[-2].endswith(f"to go on with it: {hint}")
        assert lines[-1].startswith("after")
    else:
        assert run.returncode in (-signal.SIGINT, 130)
        assert lines[-1].endswith(hint)
        assert "ended at once" in lines[-1] or "no trial reported a result" in lines[-1]


SILENT = """
import sys
from overtone import tune

def train(config):
    tune.report(loss=config["x"])

for name in ("exp", "exp"):
    tune.run(train, config={"x": 1}, metric="loss", mode="min", name=name, storage_path=sys.argv[1], verbose=0)
tune.run(train, config={"x": 2}, metric="loss", mode="min", name="exp", storage_path=sys.argv[1], verbose=0,
         resume="AUTO")
tune.run(train, config={"x": 1}, metric="loss", mode="min", storage_path=sys.argv[1], verbose=0)
tune.run(train, config={"x": 1}, metric="loss", mode="min", storage_path=sys.argv[1], verbose=0)
tune.run(train, config={"x": 1}, metric="loss", mode="min", storage_path=sys.argv[1], verbose=0,
         stop={"accurracy": 1})
"""


def test_a_silent_run_prints_the_warning_of_a_vain_stop_criterion_alone(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SILENT)
    command = [sys.executable, str(script), str(tmp_path / "results")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert "accurracy" in line


OLD = """
import sys
from overtone import tune

def train(config):
    tune.report(loss=config["x"] * 2)

tune.run(train, config={"x": 1}, metric="loss", mode="min", name="exp", storage_path=sys.argv[1], verbose=1,
         resume="AUTO", num_samples=NUM)
"""


def test_a_finished_experiment_of_other_code_says_that_nothing_runs_and_both_ways_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"

    def said(code: str) -> str:
        script.write_text(code)
        command = [sys.executable, str(script), str(tmp_path / "results")]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return run.stderr

    assert said(OLD.replace("NUM", "1")) == ""
    assert "is finished" not in said(OLD.replace("NUM", "1"))
    changed = OLD.replace("* 2", "* 3")
    again = said(changed.replace("NUM", "1"))
    assert "exp is finished: its results are returned, and the changed train does not run" in again
    assert "leave resume out" in again
    assert "num_samples above 1" in again
    assert "does not run" not in said(changed.replace("* 3", "* 4").replace("NUM", "2"))
