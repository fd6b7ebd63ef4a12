from __future__ import annotations

from overtone.observers.display.plain_text import width
from overtone.observers.display.text_table import boxed


def test_numbers_line_up_on_their_point_and_texts_to_the_left() -> None:
    assert boxed(["name", "x", "n"], [["a", 0.5, 1], ["bb", 10.25, None], ["c", 3, 200]]) == [
        "+--------+-------+-----+",
        "| name   |     x |   n |",
        "|--------+-------+-----|",
        "| a      |  0.5  |   1 |",
        "| bb     | 10.25 |     |",
        "| c      |  3    | 200 |",
        "+--------+-------+-----+",
    ]


def test_nan_and_inf_are_numbers() -> None:
    lines = boxed(["v"], [[float("nan")], [float("inf")], [1.5]])
    assert [line.strip("| ") for line in lines[3:6]] == ["nan", "inf", "1.5"]


def test_wide_characters_align() -> None:
    lines = boxed(["名前", "activation"], [["学习率", "relu"], ["x", "激活函数"]])
    assert len({width(line) for line in lines}) == 1


def test_nothing_in_a_cell_acts_on_the_terminal() -> None:
    lines = boxed(["he\x1bad"], [["a\x1b[2J"], ["b\nc"], [["\x07"]]])
    assert len(lines) == 7
    assert all(line.isprintable() for line in lines)


def test_long_texts_are_cut_except_in_the_first_column() -> None:
    name, header = "a" * 40, "model/encoder/layers/dropout"
    lines = boxed(["Trial name", header], [[name, "b" * 40]], max_width=20)
    assert name in lines[3]
    assert "b" * 17 + "... " in lines[3]
    assert "...er/layers/dropout" in lines[1]
