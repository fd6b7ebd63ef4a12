from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.worker import output
from overtone.worker.output import MAX_LINE_BYTES, OutputLines


def test_lines_are_cut_at_newlines_however_they_arrive() -> None:
    lines = OutputLines()
    assert lines.feed(b"one\ntw") == ["one"]
    assert lines.feed(b"o\n\nthree") == ["two", ""]
    assert lines.end() == ["three"]
    assert lines.end() == []


@given(st.lists(st.binary(max_size=20)))
def test_every_cut_gives_the_same_lines(chunks: list[bytes]) -> None:
    whole = OutputLines()
    expected = whole.feed(b"".join(chunks)) + whole.end()
    cut = OutputLines()
    got = [line for chunk in chunks for line in cut.feed(chunk)] + cut.end()
    assert got == expected


def test_of_a_progress_bar_the_last_state_remains() -> None:
    lines = OutputLines()
    assert lines.feed(b"10%\r20%\r") == []
    assert lines.feed(b"30%\r") == []
    assert lines.feed(b"done\nwindows\r\n") == ["done", "windows"]


def test_a_line_without_an_end_is_shown_in_pieces() -> None:
    lines = OutputLines()
    shown = [line for _ in range(5) for line in lines.feed(b"x" * MAX_LINE_BYTES)] + lines.end()
    assert "".join(shown) == "x" * 5 * MAX_LINE_BYTES
    assert max(map(len, shown)) <= 2 * MAX_LINE_BYTES


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    assert OutputLines().feed(b"\xff\xfe\n") == ["\ufffd\ufffd"]


def test_files_are_appended_to(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved = os.dup(1), os.dup(2)
    try:
        for text in (b"one\n", b"two\n"):
            output.redirect_to_files(str(tmp_path / "trial"), ("out", "err"))
            os.write(1, text)
            os.write(2, b"bad\n")
    finally:
        output.redirect(*saved)
    assert (tmp_path / "trial" / "out").read_bytes() == b"one\ntwo\n"
    assert (tmp_path / "trial" / "err").read_bytes() == b"bad\nbad\n"
