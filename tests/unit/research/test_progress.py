from __future__ import annotations

import io

from overtone.research.progress import Progress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_now_and_then_where_there_is_no_terminal():
    stream, clock = io.StringIO(), Clock()
    with Progress(4, stream=stream, clock=clock) as shown:
        for at, is_failed in [(10, False), (40, True), (50, False), (60, False)]:
            clock.now = at
            shown.done(is_failed)
    assert stream.getvalue().splitlines() == [
        "overtone: 2 of 4 searches, 1 failed in 40 s, about 40 s to go",
        "overtone: 4 of 4 searches, 1 failed in 60 s",
    ]


def test_nothing_where_nothing_is_wanted():
    stream = Terminal()
    with Progress(2, False, stream) as shown:
        shown.done(False)
    assert stream.getvalue() == ""


def test_a_bar_in_a_terminal():
    stream = Terminal()
    with Progress(2, stream=stream) as shown:
        shown.done(False)
        shown.done(True)
    assert "2/2" in stream.getvalue()
    assert "searches (1 failed)" in stream.getvalue()
