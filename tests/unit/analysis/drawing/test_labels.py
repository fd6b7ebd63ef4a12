from __future__ import annotations

import pytest

from overtone.analysis.drawing.labels import (
    duration,
    fitted,
    number,
    printable,
    shortened,
    text_width,
    wrapped,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.012345, "0.01235"), (1.5e-7, "1.5e-7"), (123456, "123,456"), (1e30, "1e30"), (float("nan"), "NaN"),
     (float("-inf"), "-inf"), (12345.678, "12,346"), (-2.5, "-2.5"), (1e-300, "1e-300")],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (90, "90 s"), (300, "5 min"), (9000, "2.5 h"), (259200, "3 d"), (0.25, "0.25 s")],
)
def test_times_have_units(seconds, text):
    assert duration(seconds) == text


def test_names_are_shortened_in_the_middle():
    assert shortened("optimizer/group/learning_rate", 15) == "optimiz\u2026ng_rate"
    assert len(shortened("x" * 10**6, 20)) == 20
    assert shortened("short", 15) == "short"


def test_what_cannot_be_shown_is_a_space():
    assert printable("a\nb\x00\u202ec\ud800") == "a b  c "


@pytest.mark.parametrize("width", [10, 30, 100, 1000])
@pytest.mark.parametrize("text", ["W" * 500, "i" * 500, "\u5b66" * 500, "a b " * 500])
def test_fitted_texts_fit(text, width):
    line = fitted(text, width, 12)
    assert text_width(line, 12) <= max(width, 45)


def test_lines_are_at_most_as_many():
    lines = wrapped("word " * 400, 200, 12, 3)
    assert len(lines) == 3
    assert all(text_width(line, 12) <= 200 for line in lines)
    assert wrapped("", 200, 12) == []
