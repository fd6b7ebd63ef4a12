"""The built site, which `make docs` has made before these tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "_build" / "html"
sys.path.insert(0, str(ROOT / "docs" / "extensions"))


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the pages."""
    assert (SITE / "index.html").is_file(), "there are no pages: make docs"
    return SITE
