"""Names that are imported when they are first used."""

import importlib
import math
import zipfile

import pytest

from overtone.lazy import nearest, stated

STUB = """\
from collections.abc import Mapping

from colorsys import rgb_to_hsv as rgb_to_hsv
from made_up import child as child
from made_up import gone as gone
from math import (
    pi as pi,
)
from math import tau as tau
from os import _exit as _exit

params: Mapping[str, str]
"""
INIT = "from overtone.lazy import attach\n\n__getattr__, __dir__ = attach(__name__)\n"


@pytest.fixture(params=["folder", "zip file"])
def package(request, tmp_path, monkeypatch):
    files = {"__init__.py": INIT, "__init__.pyi": STUB, "child.py": "x = 1\n"}
    place = tmp_path / "made_up.zip"
    if request.param == "folder":
        place = tmp_path
        (tmp_path / "made_up").mkdir()
        for name, text in files.items():
            (tmp_path / "made_up" / name).write_text(text)
    else:
        with zipfile.ZipFile(place, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"made_up/{name}", text)
    monkeypatch.syspath_prepend(str(place))
    for name in ("made_up", "made_up.child"):
        monkeypatch.setitem(importlib.sys.modules, name, None)
        del importlib.sys.modules[name]
    return importlib.import_module("made_up")


def test_a_name_is_taken_from_where_it_lives_and_kept(package):
    assert package.tau == math.tau
    assert "tau" in vars(package)
    assert "pi" not in vars(package)


def test_a_submodule_is_an_attribute_without_being_imported_first(package):
    assert package.child.x == 1


def test_the_stub_states_each_name_and_no_import_of_its_own(package):
    assert stated("made_up") == {
        "rgb_to_hsv": "colorsys", "child": "made_up", "gone": "made_up", "pi": "math", "tau": "math", "_exit": "os",
    }  # fmt: skip


def test_a_star_import_takes_no_private_names_and_no_submodules(package):
    assert package.__all__ == ["pi", "rgb_to_hsv", "tau"]


def test_dir_lists_names_that_were_not_imported_yet(package):
    assert {"rgb_to_hsv", "pi", "tau", "child"} <= set(dir(package))


def test_an_unknown_name_is_answered_with_the_nearest_one(package):
    with pytest.raises(AttributeError, match=r"made_up has no 'rgb_to_hvs'; did you mean 'rgb_to_hsv'\?"):
        _ = package.rgb_to_hvs


def test_a_child_that_is_not_there_is_an_import_error(package):
    with pytest.raises(ModuleNotFoundError):
        _ = package.gone


def test_private_names_are_not_guessed():
    assert nearest("_pi", ["pi"]) == ""
    assert nearest("zzz", ["pi"]) == ""
