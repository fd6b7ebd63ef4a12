"""What the tests of training share; their modules can be imported, also by the processes of ranks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def results_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write results into the test's folder, and compute with one thread."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
