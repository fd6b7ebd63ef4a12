from __future__ import annotations

import pytest

from overtone.observers.display.plain_text import (
    clean,
    cut,
    duration,
    number,
    pad,
    printable_output,
    show,
    width,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[31mred\x1b[0m", "a\\x1b[31mred\\x1b[0m"),
        ("two\nlines\r\t", "two\\nlines\\r\\t"),
        ("\x9b2J", "\\x9b2J"),  # the one-byte form of an escape sequence
        ("abc\u202edcba", "abc\\u202edcba"),  # would reverse the rest of the line
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("学习率", "学习率"),
        ("café naïve", "café naïve"),
    ],
)
def test_clean_spells_out_what_acts_on_a_terminal(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(text).isprintable()


def test_clean_takes_any_value() -> None:
    assert clean(["\x1b"]) == "['\\x1b']"


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("学习率", 6), ("ｆｕｌｌ", 8), ("e\u0301", 1), ("한글", 4)]
)
def test_width_counts_columns(text: str, columns: int) -> None:
    assert width(text) == columns
    assert width(pad(text, 10)) == 10
    assert pad(text, 10, right=True).endswith(text)


def test_cut_keeps_within_the_columns() -> None:
    assert cut("abcdefghij", 10) == "abcdefghij"
    assert cut("abcdefghijk", 10) == "abcdefg..."
    assert cut("model/encoder/lr", 10, keep_end=True) == "...oder/lr"
    assert cut("学习率学习率", 8) == "学习..."
    assert [cut("abcdef", n) for n in (0, 1, 2, 3, 4)] == ["", ".", "..", "...", "a..."]


def test_numbers_have_six_digits_and_whole_ones_all() -> None:
    assert [number(x) for x in (0.30777167, 10000, 12345678, 1e-7, 50.2268)] == [
        "0.307772",
        "10000",
        "12345678",
        "1e-07",
        "50.2268",
    ]
    assert [show(x) for x in (None, True, 0.1, "x", [1, 2])] == ["", "True", "0.1", "x", "[1, 2]"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (1.24, "1.2 s"),
        (42.4, "42 s"),
        (59.9, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7620, "2 h 07 min"),
        (273600, "3 d 4 h"),
        (-1, "0.0 s"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_output_keeps_colours_only_where_they_are_wanted() -> None:
    text = "\x1b[32mgreen\x1b[0m \x1b[2Jcleared\x1b]0;title\x07\x1b[1A\x07"
    assert printable_output(text, colours=True) == "\x1b[32mgreen\x1b[0m cleared"
    assert printable_output(text, colours=False) == "green cleared"


def test_output_of_a_progress_bar_is_its_last_state() -> None:
    assert printable_output("10%\r50%\r100%\r\nnext\n", colours=False) == "100%\nnext\n"
