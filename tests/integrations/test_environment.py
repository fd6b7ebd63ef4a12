"""What can go wrong between packages before any test of an integration runs."""

from __future__ import annotations

from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import tomllib

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))


def test_one_distribution_has_the_module_xgboost() -> None:
    pytest.importorskip("xgboost")
    assert packages_distributions()["xgboost"] == ["xgboost-cpu"]


def test_no_extra_names_a_distribution_of_xgboost() -> None:
    """xgboost and xgboost-cpu have the same module: an extra that names one would break the other."""
    extras = PROJECT["project"]["optional-dependencies"]
    assert not [name for requirements in extras.values() for name in requirements if "xgboost" in name]
