"""The files about the project beside pyproject.toml say the same as it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import overtone

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")


def loaded(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def toml_list(name: str) -> list[str]:
    """Return a list of pyproject.toml (Python 3.10 has no tomllib)."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*?)^\]", text, re.M | re.S)[1])


def test_the_version_is_the_same_everywhere():
    assert loaded("CITATION.cff")["version"] == overtone.__version__
    assert loaded("conda/recipe.yaml")["context"]["version"] == overtone.__version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", changes, re.M)[1] == overtone.__version__


def test_the_conda_package_needs_what_the_wheel_needs():
    wanted = {re.sub(r"([>=])", r" \1", name, count=1) for name in toml_list("dependencies")}
    needs = set(loaded("conda/recipe.yaml")["requirements"]["run"]) - {"__linux"}
    python = re.search(r'^requires-python = "(.*)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)[1]
    assert needs == wanted | {f"python {python}"}


def test_the_conda_package_has_the_command_and_the_license():
    recipe = loaded("conda/recipe.yaml")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (command,) = recipe["build"]["python"]["entry_points"]
    name, target = re.search(r'^\[project.scripts\]\n(\w+) = "(.*)"', project, re.M).groups()
    assert command == f"{name} = {target}"
    assert recipe["about"]["license"] == re.search(r'^license = "(.*)"', project, re.M)[1]
    assert all(list(ROOT.glob(path)) for path in recipe["about"]["license_file"])


def test_a_citation_has_what_its_format_needs():
    found = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= found.keys()
    assert found["type"] == "software"
