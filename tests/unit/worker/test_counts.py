"""What a session counts."""

from __future__ import annotations

from typing import Any

from overtone.worker.session_counts import Counts


def filled(counts: Counts, t: int, now: float, **values: Any) -> dict[str, Any]:
    counts.fill(values, t, now)
    return values


def test_counting_goes_on_from_a_state() -> None:
    counts = Counts({"time_total_s": 10.0, "timesteps_total": 7}, lambda: 100.0)
    first = filled(counts, 4, 103.0, timesteps_this_iter=1)
    assert (first["time_total_s"], first["time_since_restore"], first["timesteps_total"]) == (13.0, 3.0, 8)
    assert counts.state(4) == {"t": 4, "time_total_s": 13.0, "timesteps_total": 8}


def test_time_between_fill_and_go_on_does_not_count() -> None:
    now = [0.0]
    counts = Counts({}, lambda: now[0])
    filled(counts, 1, 2.0)
    now[0] = 50.0
    counts.go_on()
    assert filled(counts, 2, 53.0)["time_this_iter_s"] == 3.0


def test_done_is_a_truth_value() -> None:
    counts = Counts({}, lambda: 0.0)
    assert [filled(counts, 1, 0, done=value)["done"] for value in (True, False, 1, None)] == [
        True,
        False,
        True,
        False,
    ]


def test_timesteps_given_as_a_bool_are_a_number() -> None:
    assert type(filled(Counts({}, lambda: 0.0), 1, 1.0, timesteps_total=True)["timesteps_total"]) is int


def test_episodes_are_added_up_once_a_result_has_some() -> None:
    counts = Counts({}, lambda: 100.0)
    assert "episodes_total" not in filled(counts, 1, 101.0)
    assert "episodes_total" not in counts.state(1)
    assert filled(counts, 2, 102.0, episodes_this_iter=2)["episodes_total"] == 2
    assert filled(counts, 3, 103.0)["episodes_total"] == 2
    again = Counts(counts.state(3), lambda: 100.0)
    assert filled(again, 4, 101.0, episodes_this_iter=3)["episodes_total"] == 5
    assert filled(again, 5, 102.0, episodes_this_iter=1, episodes_total=9)["episodes_total"] == 9
