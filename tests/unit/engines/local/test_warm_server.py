from __future__ import annotations

import pytest

from overtone.engines.local.warm_server import end_text, was_taken


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, "exited with code 0"),
        (3 << 8, "exited with code 3"),
        (9, "killed by signal 9 (SIGKILL)"),
        (11 | 0x80, "killed by signal 11 (SIGSEGV)"),  # with a core dump
        (60, "killed by signal 60"),
        (None, "ended, nobody knows how"),
    ],
)
def test_an_exit_status_in_words(status: int | None, text: str) -> None:
    assert end_text(status) == text


@pytest.mark.parametrize(
    ("status", "taken"), [(9, True), (15, True), (0, False), (9 << 8, False), (11, False), (6 | 0x80, False)]
)
def test_only_sigkill_and_sigterm_take_a_process_away(status: int, taken: bool) -> None:
    assert was_taken(status) is taken
