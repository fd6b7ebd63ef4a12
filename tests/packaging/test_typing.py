"""The public API, as a type checker sees it."""

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
