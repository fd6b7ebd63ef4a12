"""What `overtone --help` may cost: told by the modules that it loads, not by a clock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FORBIDDEN = {
    "asyncio", "cloudpickle", "concurrent.futures", "dataclasses", "http", "inspect", "json", "logging",
    "multiprocessing", "numpy", "overtone.analysis", "overtone.core", "overtone.journal", "overtone.observers",
    "pandas", "psutil", "pyarrow", "rich", "socket", "sqlite3", "subprocess", "torch", "unittest",
}  # fmt: skip


@pytest.mark.parametrize(
    "argv", [["--help"], ["--version"], ["nonsense"], ["ls", "--help"], ["why", "--help"]]
)
def test_help_loads_nothing_that_is_dear(argv):
    program = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from overtone.cli import main; "
        f"main({argv!r}); print('loaded:', *sys.modules)"
    )
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = done.stdout.rpartition("loaded:")[2].split()
    assert set(loaded) & FORBIDDEN == set()
