"""How long the algorithms are, beside Table 1 of the paper (arXiv 1807.05118).

Docstrings, status lines and blank lines count, and every module that only this algorithm imports;
what several algorithms share (`rungs`, `ladders`, `brackets`, `explore`) does not.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "src/overtone/schedulers"

# file: (the paper's lines, how many it may have)
LINES = {
    "fifo": (10, 12),
    "asha": (78, 78),  # both rules; the paper's has one
    "hyperband": (215, 130),
    "median": (68, 60),
    "pbt": (169, 130),
}


@cache
def imported(name):
    """The other modules of this package that a scheduler's module imports."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    prefix = "overtone.schedulers."
    direct = {node.module.removeprefix(prefix) for node in froms if (node.module or "").startswith(prefix)}
    return direct | {one.name for node in froms if node.module == prefix[:-1] for one in node.names}


MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def parts(name):
    """A module and all that it alone imports, directly or through one of these."""
    mine = {name}
    while True:
        more = {
            one
            for owner in mine
            for one in imported(owner)
            if {other for other in MODULES if one in imported(other)} <= mine
        }
        if more <= mine:
            return mine
        mine |= more


@pytest.mark.parametrize("name", LINES)
def test_an_algorithm_is_no_longer_than(name):
    if name not in MODULES:
        pytest.skip(f"there is no {name} yet")
    paper, allowed = LINES[name]
    n = sum(len((FOLDER / f"{part}.py").read_text("utf-8").splitlines()) for part in parts(name))
    assert n <= allowed, f"{name}: {n} lines in {sorted(parts(name))}, the paper's has {paper}"


@pytest.mark.parametrize("name", MODULES)
def test_each_file_can_be_read_in_one_sitting(name):
    assert len((FOLDER / f"{name}.py").read_text("utf-8").splitlines()) <= 250


def test_what_is_shared_is_shared():
    assert parts("hyperband") == {"hyperband"}
    assert parts("asha") == {"asha"}
    for shared in ("rungs", "ladders", "brackets"):
        assert sum(shared in names for names in map(imported, MODULES)) >= 2
