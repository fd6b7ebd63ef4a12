from __future__ import annotations

import pytest

from overtone.cli import tables
from overtone.cli.tables import TableColumn, fitted, folded, show_facts, show_table, styled

COLUMNS = [TableColumn("name"), TableColumn("note", keep=5, least=6), TableColumn("n", right=True, keep=1)]
CELLS = [["train", "a rather long note", "7"], ["other", "short", "12"]]


@pytest.mark.parametrize(
    ("room", "shown", "widths"),
    [
        (None, [0, 1, 2], [5, 18, 2]),
        (29, [0, 1, 2], [5, 18, 2]),
        (24, [0, 1, 2], [5, 13, 2]),
        (17, [0, 1, 2], [5, 6, 2]),
        (16, [0, 1], [5, 9]),
        (12, [0], [5]),
        (3, [0], [5]),
    ],
)
def test_columns_that_matter_least_go_first_and_then_texts_are_cut(room, shown, widths):
    found, wide = fitted(COLUMNS, CELLS, room)
    assert (found, [wide[i] for i in found]) == (shown, widths)


def test_a_column_without_anything_in_it_is_left_out():
    assert fitted(COLUMNS, [["train", "", "7"]], 80)[0] == [0, 2]


def test_a_pipe_gets_all_of_it_plain(capsys):
    show_table(COLUMNS, [*CELLS, ["\x1b[2J", "x" * 200, ""]])
    lines = capsys.readouterr().out.split("\n")
    assert lines[1].split() == ["train", "a", "rather", "long", "note", "7"]
    assert lines[3].startswith("\\x1b[2J")
    assert "x" * 200 in lines[3]


@pytest.mark.parametrize("room", [20, 80, 120])
def test_a_terminal_is_never_wider_than_it_is(capsys, monkeypatch, room):
    monkeypatch.setattr(tables, "terminal_columns", lambda: room)
    monkeypatch.setenv("COLUMNS", str(room))
    show_table(COLUMNS, [["日本", "x" * 300, "7"]])
    out = capsys.readouterr().out
    assert "..." in out
    assert all(len(line) <= room for line in out.split("\n"))


def test_facts_without_a_value_are_left_out(capsys):
    show_facts([("name", "train"), ("nothing", ""), ("a\nb", "c\nd")])
    assert capsys.readouterr().out == "name  train\na\\nb  c\\nd\n"


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("日本日本", 4, ["日本", "日本"]),
        ("", 4, [""]),
    ],
)
def test_long_texts_go_on_below_themselves(text, room, lines):
    assert folded(text, room) == lines


def test_colours_are_for_terminals(monkeypatch):
    assert styled("x", "red") == "x"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert styled("x", "red") == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("x", "red") == "x"
