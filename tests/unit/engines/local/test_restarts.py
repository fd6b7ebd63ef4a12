from __future__ import annotations

import pytest

from overtone.engines.local.restarts import LONGEST_PAUSE_S, MAX_RESTARTS, MAX_TAKEN, pause_before


@pytest.mark.parametrize(
    ("restarts", "was_ready", "was_taken", "pause_s"),
    [
        (1, True, False, 0.0),
        (1, False, False, None),  # it crashed while it imported, and would again
        (MAX_RESTARTS, True, False, 0.0),
        (MAX_RESTARTS + 1, True, False, None),
        (1, False, True, 0.0),
        (MAX_RESTARTS, False, True, 0.0),
        (MAX_RESTARTS + 1, False, True, 0.5),  # somebody kills it again and again: memory may be short
        (MAX_RESTARTS + 2, True, True, 1.0),
        (MAX_TAKEN, True, True, LONGEST_PAUSE_S),
        (MAX_TAKEN + 1, True, True, None),
    ],
)
def test_when_a_server_is_started_again(restarts, was_ready, was_taken, pause_s) -> None:
    assert pause_before(restarts, was_ready, was_taken) == pause_s
