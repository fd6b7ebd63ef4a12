"""The tool that lists import cycles finds each kind of import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cycles import EARLY, LATE, SOURCE, TYPES, cycles, imports

FILES = {
    "__init__": "",
    "early": "import typing\nfrom made_up import late, pack",
    "late": "def f():\n    from made_up.pack.inner import x",
    "pack/__init__": "",
    "pack/inner": "if typing.TYPE_CHECKING:\n    import made_up.early\nelse:\n    import made_up.alone\nx = 1",
    "pack/sibling": "from . import inner as same\nfrom .inner import x\nfrom ..alone import y",
    "alone": "import made_up.alone",
}


@pytest.fixture
def edges(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / "made_up" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return imports(tmp_path)


def test_imports_are_found_wherever_they_are(edges):
    short = {
        (edge.importer.removeprefix("made_up."), edge.imported.removeprefix("made_up."), edge.kind)
        for edge in edges
    }
    assert short == {
        ("early", "late", EARLY),
        ("early", "pack", EARLY),
        ("late", "pack.inner", LATE),
        ("pack.inner", "early", TYPES),
        ("pack.inner", "alone", EARLY),
        ("pack.sibling", "pack.inner", EARLY),
        ("pack.sibling", "alone", EARLY),
    }


def test_the_package_has_no_cycle():
    assert cycles(imports(SOURCE)) == []


def test_a_cycle_is_modules_that_lead_to_each_other(edges):
    assert cycles(edges) == [["made_up.early", "made_up.late", "made_up.pack.inner"]]
    assert cycles([edge for edge in edges if edge.kind != TYPES]) == []
