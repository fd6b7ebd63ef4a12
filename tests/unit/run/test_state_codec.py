from __future__ import annotations

import json
import threading
from collections import Counter, deque
from dataclasses import dataclass
from math import inf, isnan, nan

import pytest

from overtone.core.types import Why
from overtone.errors import OvertoneError
from overtone.run.resume.state_codec import NotData, NotTheSame, frozen, thaw

HERE = {__name__}


class Rung:
    __slots__ = ("scores",)

    def __init__(self) -> None:
        self.scores: list[float] = []


class Ruler:
    def __init__(self, rule=max) -> None:
        self.rungs = {1: Rung(), 3: Rung()}
        self.best: object = None
        self.rule = rule
        self.n = Counter[str]()
        self.recent: deque[float] = deque(maxlen=2)
        self.top = self.rungs[3]
        self.newest = self.rungs[3].scores.append  # a method of a list that stays


class Empty:
    pass


@dataclass(frozen=True)
class Recipe:
    make: object
    size: int


def again(root: object, fresh: object) -> None:
    thaw(json.loads(json.dumps(frozen(root), allow_nan=False)), fresh, HERE)


def test_fresh_objects_take_the_state_and_stay_who_they_are() -> None:
    old, new = Ruler(), Ruler(rule=min)
    old.rungs[3].scores += [0.5, nan, inf]
    old.n["stopped"] += 2
    old.recent.extend([1.0, 2.0, 3.0])
    old.best = Why("asha", t=3, against=("a", "b"))
    rungs, top = new.rungs, new.top
    again(old, new)
    assert new.rungs is rungs
    assert new.top is top is rungs[3]
    assert top.scores[0] == 0.5
    assert isnan(top.scores[1])
    assert top.scores[2] == inf
    assert (new.n["stopped"], list(new.recent), new.recent.maxlen) == (2, [2.0, 3.0], 2)
    assert new.best == old.best
    assert new.rule is min
    new.newest(7.0)
    assert top.scores[-1] == 7.0


def test_what_was_shared_is_shared_again_and_a_circle_closes() -> None:
    shared = {"x": 1}
    old: dict = {"a": [shared], "b": (shared, Empty()), (1, "k"): {2, 3}}
    old["self"] = old
    new: dict = {}
    again(old, new)
    assert new["a"][0] is new["b"][0]
    assert new["self"] is new
    assert type(new["b"][1]) is Empty
    assert new[1, "k"] == {2, 3}


def test_a_recipe_stays_as_it_was_made_anew() -> None:
    new = {"recipe": Recipe(min, 2), "n": 0}
    recipe = new["recipe"]
    again({"recipe": Recipe(max, 1), "n": 5}, new)
    assert new["recipe"] is recipe
    assert new["n"] == 5


@pytest.mark.parametrize("hidden", [threading.Lock(), (one for one in ()), open, memoryview(b"x")])
def test_a_state_that_cannot_be_seen_is_refused(hidden) -> None:
    if hidden is open:
        hidden = {print: 1}
    with pytest.raises(NotData):
        frozen([hidden])


def test_nothing_changes_where_the_fresh_objects_are_others() -> None:
    old, new = {"n": 1, "rule": max}, {"n": 0}
    with pytest.raises(NotTheSame, match="function"):
        again(old, new)
    assert new == {"n": 0}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("tempfile", "TemporaryDirectory"),
        ("overtone.core.trial", "Status.RUNNING"), ("overtone.run.resume.state_codec", "thaw"), ("overtone.core.no", "X"),
    ],
)  # fmt: skip
def test_only_classes_of_the_run_are_made(module, name) -> None:
    with pytest.raises(NotTheSame):
        thaw({"classes": [[module, name, "x"]], "tree": ["d", "a", [0, 1]]}, {})


@pytest.mark.parametrize("tree", [[7], ["d", "a"], ["?"], [], 3, ["u", 0, 1]])
def test_nonsense_is_refused(tree) -> None:
    fresh = {"a": 1}
    with pytest.raises(NotTheSame):
        thaw({"classes": [], "tree": tree}, fresh)
    assert fresh == {"a": 1}


class Stubborn:
    def __init__(self) -> None:
        self.__dict__["n"] = 1

    @property
    def n(self) -> int:
        return self.__dict__["n"]


def test_what_refuses_its_state_half_way_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(OvertoneError, match=r"delete snapshot\.json"):
        again([Stubborn()], [Stubborn()])


def test_values_with_a_tag_come_back():
    from datetime import datetime
    from decimal import Decimal
    from pathlib import Path

    values = {"a": datetime(2026, 1, 2), "b": [Decimal("1.10"), Path("x")]}
    again: dict = {}
    thaw(json.loads(json.dumps(frozen(values))), again)
    assert again == values
    assert type(again["b"][0]) is Decimal
