"""Output of trials, read while it is written."""

from __future__ import annotations

from contextlib import ExitStack, closing

import pytest

from overtone.reading.output_lines import FileLines, GrowingFile, KeptLines
from overtone.reading.trial_output import NEWEST, OLDER, heading, log_files

TRIAL = "a1b2c_00000"


@pytest.fixture
def part(tmp_path):
    """Writes a part of kept output."""

    def write(name, text, mode="w"):
        head = heading(TRIAL, "stdout").decode() if mode == "w" else ""
        with (tmp_path / name).open(mode) as file:
            file.write(head + text)

    return write


@pytest.fixture
def reading():
    """Closes readers when the test ends."""
    with ExitStack() as stack:
        yield lambda reader: stack.enter_context(closing(reader))


def texts(lines):
    return [line.decode() for _, line in lines]


def test_lines_come_when_they_end(part, tmp_path, reading):
    source = reading(KeptLines(tmp_path, TRIAL))
    assert texts(source.lines()) == []
    part(NEWEST, "one\ntw")
    assert texts(source.lines()) == ["one"]
    part(NEWEST, "o\nthree", "a")
    assert texts(source.lines()) == ["two"]
    assert texts(source.lines(is_last=True)) == ["three"]


def test_no_line_is_read_twice_and_none_is_lost_when_a_part_is_full(part, tmp_path, reading):
    source = reading(KeptLines(tmp_path, TRIAL))
    part(NEWEST, "one\n")
    assert texts(source.lines()) == ["one"]
    part(NEWEST, "two\n", "a")
    (tmp_path / NEWEST).rename(tmp_path / OLDER)
    part(NEWEST, "three\n")
    assert texts(source.lines()) == ["two", "three"]
    for text in ("four\n", "five\n"):  # two parts between two looks
        (tmp_path / NEWEST).rename(tmp_path / OLDER)
        part(NEWEST, text)
    assert texts(source.lines()) == ["four", "five"]


def test_a_file_of_the_trials_own_is_not_read(tmp_path, reading):
    (tmp_path / NEWEST).write_text("mine\n")
    source = reading(KeptLines(tmp_path, TRIAL))
    assert texts(source.lines(True)) == []
    assert source.is_foreign


def test_files_of_log_to_file(tmp_path, reading):
    (tmp_path / "out").write_text("one\n")
    (tmp_path / "err").write_text("two\n")
    assert list(reading(FileLines(tmp_path, ("out", "err"))).lines()) == [
        ("stdout", b"one"),
        ("stderr", b"two"),
    ]
    assert list(reading(FileLines(tmp_path, ("out", "err"), ("stderr",))).lines()) == [("stderr", b"two")]
    assert texts(reading(FileLines(tmp_path, ("out", "out"))).lines()) == ["one"]


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("count", [0, 1, 3, 70_000, 100_000])
def test_the_last_lines_of_a_long_file(tmp_path, count, end, reading):
    lines = [f"line {i}" for i in range(70_000)]
    (tmp_path / "out").write_text("\n".join(lines) + end)
    found = [line.decode() for line in reading(GrowingFile(tmp_path / "out", count)).lines(is_last=True)]
    assert found == lines[len(lines) - min(count, len(lines)) :]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (False, None),
        (None, None),
        (True, ("stdout", "stderr")),
        ("log", ("log", "log")),
        (["a", "b"], ("a", "b")),
    ],
)
def test_the_names_in_a_header(asked, names):
    assert log_files({"parts": {"options": {"log_to_file": asked}}}) == names
    assert log_files({}) is None
