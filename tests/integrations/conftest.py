"""What the tests of integrations share: an empty home, Keras on torch, and every framework under CI."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

sys.path.insert(0, str(Path(__file__).parent))

# before any import of a framework, and for the processes that inherit it
os.environ.update({"KERAS_BACKEND": "torch", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"})
os.environ["WANDB__SERVICE_WAIT"] = "300"  # on a busy machine its process starts slowly


def pytest_configure(config: pytest.Config) -> None:
    # frameworks and trackers warn of each other; the warnings of Overtone stay errors
    config.addinivalue_line("filterwarnings", "default")
    config.addinivalue_line("filterwarnings", r"error:::overtone(\..*)?")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Fail under CI if a package of the group is missing: `importorskip` would pass over its tests."""
    if os.environ.get("CI") != "true":
        return
    missing = [name for name in _packages() if not _is_installed(name)]
    if missing:
        raise pytest.UsageError(f"make integrations installs {', '.join(missing)}")


@pytest.fixture(autouse=True)
def results_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write results, caches and settings into the test's folder."""
    monkeypatch.setenv("HOME", str(tmp_path))


def _packages() -> list[str]:
    import tomllib

    group = tomllib.loads(PROJECT.read_text("utf-8"))["dependency-groups"]["integrations"]
    return [re.split(r"[\[>=<]", requirement)[0] for requirement in group]


def _is_installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False
