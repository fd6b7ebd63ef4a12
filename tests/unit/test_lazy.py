"""Names that are imported when they are first used."""

import sys
from types import ModuleType

import pytest

from overtone.lazy import attach, nearest


@pytest.fixture
def package(monkeypatch):
    module = ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", module)
    names = {"colorsys": "rgb_to_hsv", "math": "pi tau"}
    module.__getattr__, module.__dir__ = attach("made_up", names, ["child"])
    return module


def test_a_name_is_taken_from_where_it_lives_and_kept(package, monkeypatch):
    import math

    assert package.tau == math.tau
    assert "tau" in vars(package)
    assert "pi" not in vars(package)


def test_a_star_import_takes_no_private_names():
    module = ModuleType("made_up")
    module.__getattr__, _ = attach("made_up", {"colorsys": "rgb_to_hsv _private"})
    assert module.__all__ == ["rgb_to_hsv"]


def test_dir_lists_names_that_were_not_imported_yet(package):
    assert {"rgb_to_hsv", "pi", "tau", "child"} <= set(dir(package))


def test_an_unknown_name_is_answered_with_the_nearest_one(package):
    with pytest.raises(AttributeError, match=r"made_up has no 'rgb_to_hvs'; did you mean 'rgb_to_hsv'\?"):
        _ = package.rgb_to_hvs


def test_a_child_that_is_not_there_is_an_import_error(package):
    with pytest.raises(ModuleNotFoundError):
        _ = package.child


def test_private_names_are_not_guessed():
    assert nearest("_pi", ["pi"]) == ""
    assert nearest("zzz", ["pi"]) == ""
