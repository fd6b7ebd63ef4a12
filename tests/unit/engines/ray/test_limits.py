"""Limits of trials that are actors: each is held by itself, and what it has used goes to the driver."""

from __future__ import annotations

import queue
from pathlib import Path
from typing import Any

import pytest

from overtone.core.limits import TrialLimits
from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.engines.ray.limits import NOTHING, Held, Used

START = Start("t", 2, 5, {}, Resources.of({"cpu": 1}), Placement(("a",), ((),)))


@pytest.fixture
def said() -> queue.Queue[Any]:
    return queue.Queue()


def test_a_trial_past_its_time_ends_and_begins_with_nothing_if_it_is_tried_again(
    said: queue.Queue[Any],
) -> None:
    held = Held(TrialLimits(time_s=10.0), START, (20.0, 3.0), said.put)
    while (message := said.get(timeout=10))[0] != "ended":
        assert message[0] == "used"
    assert message[:4] == ("ended", "t", 2, "limit")
    assert message[4].startswith("ran for 20")
    held.end()
    assert said.get(timeout=10) == ("used", "t", 2, *NOTHING)


def test_what_was_used_before_is_told_with_what_was_used_since(said: queue.Queue[Any]) -> None:
    held = Held(TrialLimits(time_s=1000.0), START, (20.0, 0.0), said.put)
    held.pause()
    held.go_on()
    held.go_on()
    held.end()
    while not said.empty():
        kind, trial_id, attempt, time_s, _ = said.get()
        assert (kind, trial_id, attempt) == ("used", "t", 2)
        assert 20.0 <= time_s < 30.0


def test_while_a_trial_waits_nothing_counts(said: queue.Queue[Any]) -> None:
    held = Held(TrialLimits(time_s=1000.0), START, NOTHING, said.put)
    held.pause()
    assert held._watch.wait_s() is None
    held.end()


def test_a_driver_that_goes_on_knows_what_was_used(tmp_path: Path) -> None:
    used = Used(tmp_path)
    used.take(5, (20.0, 3.0))
    used.take(6, (1.0, 1.0))
    used.keep()
    again = Used(tmp_path)
    assert again.of(5) == (20.0, 3.0)
    assert again.of(6) == (1.0, 1.0)
    assert again.of(7) == NOTHING
