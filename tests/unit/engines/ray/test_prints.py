"""What trials print travels to the driver, as far as somebody can read it."""

from __future__ import annotations

import pytest

from overtone.engines.ray import prints
from overtone.engines.ray.prints import LINES_A_SECOND, LINES_AT_ONCE, Prints


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(prints.time, "monotonic", lambda: now[0])
    return now


def test_a_trial_that_prints_too_much_is_cut_short_and_says_so(clock: list[float]) -> None:
    said = Prints("t", "train_t", 7)
    (first,) = said.messages("stdout", ["x"] * (LINES_AT_ONCE + 50))
    assert first[:5] == ("output", "t", "train_t", 7, "stdout")
    assert len(first[5]) == LINES_AT_ONCE
    clock[0] += 0.5
    assert said.messages("stdout", ["x"] * 10) == []  # not a line now and then with a word on those between
    clock[0] += 0.5
    dropped, shown = said.messages("stderr", ["y"])
    assert dropped[5] == ["[60 lines are not shown: it prints too much]"]
    assert shown[4:] == ("stderr", ["y"])
    (again,) = said.messages("stdout", ["z"] * LINES_A_SECOND)
    assert len(again[5]) == LINES_A_SECOND - 1
    assert said.rest() == [
        ("output", "t", "train_t", 7, "stdout", ["[1 lines are not shown: it prints too much]"])
    ]
    assert said.rest() == []


def test_what_goes_to_a_file_goes_there_whole(clock: list[float]) -> None:
    said = Prints("t", "train_t", 7, is_cut=False)
    many = ["x"] * (3 * LINES_AT_ONCE)
    assert said.messages("stdout", many) == [("output", "t", "train_t", 7, "stdout", many)]
    assert said.rest() == []
