"""The public API, as a type checker and an editor see it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
def test_a_typed_users_script_is_clean_under_mypy_strict():
    pytest.importorskip("mypy")
    root = HERE.parents[1]
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(HERE / "typed_use.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=110, check=False)
    ours = [line for line in done.stdout.splitlines() if "typed_use.py" in line]
    assert ours == [], "\n".join(ours)
    assert "Success" in done.stdout or "Found" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "offered"),
    [
        ("tune.run(train, met", "metric="),
        ("tune.TuneConfig(num_", "num_samples="),
        ("tune.ask_tell({}, sche", "scheduler="),
        ("tune.schedulers.ASHAScheduler(grace", "grace_period="),
        ("tune.run(train).best_con", "best_config"),
    ],
)
def test_editors_complete_arguments_and_attributes(code: str, offered: str):
    jedi = pytest.importorskip("jedi")
    script = jedi.Script(f"from overtone import tune\n{code}", project=jedi.Project(HERE.parents[1] / "src"))
    assert offered in [found.name for found in script.complete(2, len(code))]
