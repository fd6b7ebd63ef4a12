"""pyproject.toml states ranges, and constraints.txt the versions of this repository's own environments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
STATED = {
    "the package": PROJECT["dependencies"],
    **{f"extra {name}": lines for name, lines in PROJECT["optional-dependencies"].items()},
    **{
        f"group {name}": [line for line in lines if isinstance(line, str)]
        for name, lines in PYPROJECT["dependency-groups"].items()
    },
}


def constraints() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [Requirement(line.partition("#")[0]) for line in lines if line.partition("#")[0].strip()]


OLD = "group conformance"
"""What Ray's searchers need, in an environment of its own: they do not work with today's libraries."""


@pytest.mark.parametrize("place", [place for place in STATED if place != OLD])
def test_no_requirement_keeps_others_from_a_newer_version(place):
    bounds = {(line, bound.operator) for line in STATED[place] for bound in Requirement(line).specifier}
    assert [line for line, operator in bounds if operator not in (">=", "!=")] == []


def test_one_package_has_one_lowest_version():
    lowest: dict[str, set[str]] = {}
    lines = [line for place, lines in STATED.items() if place != OLD for line in lines]
    for requirement in map(Requirement, lines):
        lowest.setdefault(requirement.name, set()).add(str(requirement.specifier))
    assert {name: stated for name, stated in lowest.items() if len(stated) > 1} == {}


@pytest.mark.parametrize("constraint", constraints(), ids=str)
def test_a_constraint_is_of_a_stated_package_and_within_its_range(constraint):
    (pin,) = constraint.specifier
    version = pin.version.removesuffix(".*")
    stated = [Requirement(line) for lines in STATED.values() for line in lines]
    ranges = [requirement.specifier for requirement in stated if requirement.name == constraint.name]
    assert ranges
    assert all(version in allowed for allowed in ranges)


def test_the_makefile_installs_nothing_without_the_constraints():
    installs = re.findall(r"pip install[^&\n]*", (ROOT / "Makefile").read_text("utf-8"))
    free = [command.strip() for command in installs if "-c constraints.txt" not in command]
    assert free == ['pip install -q "uv>=0.5"']
    assert len(free) < len(installs)


def test_the_decision_note_has_a_row_for_each_dependency_and_extra():
    note = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", note, re.MULTILINE)
    packages = {row for row in rows if not row.startswith(("`", "-")) and row not in ("package", "extra")}
    extras = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert packages == {Requirement(line).name for line in PROJECT["dependencies"]}
    assert extras == set(PROJECT["optional-dependencies"])
