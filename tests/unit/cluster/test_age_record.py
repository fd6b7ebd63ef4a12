"""A cluster's age and cost survive clocks that jump, restarts, and damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st

from overtone.cluster.age_record import AgeRecord, Moment

walls = st.floats(0, 4e9)


def test_the_present_moment_counts_on() -> None:
    before = Moment.now()
    assert 0 <= Moment.now().since(before) < 60


@given(st.floats(0, 1e6), st.floats(0, 1e6), walls, walls)
def test_a_wall_clock_that_jumps_does_not_matter(
    clock: float, passed: float, wall: float, later: float
) -> None:
    before, after = Moment("a", clock, wall), Moment("a", clock + passed, later)
    assert after.since(before) == pytest.approx(passed, abs=1e-6)


@given(st.floats(0, 1e6), walls, st.floats(0, 1e5), st.floats(-1e5, 1e5))
def test_after_a_reboot_the_time_off_counts(clock: float, wall: float, up_s: float, off_s: float) -> None:
    before, after = Moment("a", clock, wall), Moment("b", up_s, wall + off_s)
    assert after.since(before) >= max(up_s, off_s) - 1e-3  # also with a clock that was set back


@given(st.lists(st.tuples(st.floats(0, 3600), st.floats(0, 100), st.booleans()), max_size=20))
def test_cost_is_the_sum_over_time(looks: list[tuple[float, float, bool]]) -> None:
    record = AgeRecord(1.0, Moment("a", 0.0, 0.0))
    age = cost = busy_at = 0.0
    for passed, rate, is_busy in looks:
        at = Moment("a", record.at.clock + passed, 0.0)
        record = record.advanced(at, rate, is_busy)
        age, cost = age + passed, cost + rate * passed / 3600
        busy_at = age if is_busy else busy_at
        assert record.busy_at <= record.age_s
    assert (record.age_s, record.cost) == (pytest.approx(age), pytest.approx(cost))
    assert record.busy_at == pytest.approx(busy_at)


def test_it_survives_in_its_file(tmp_path: Path) -> None:
    file, now = tmp_path / "age.json", Moment("a", 5.0, 5.0)
    record = AgeRecord(1.0, Moment("a", 0.0, 0.0)).advanced(now, 3600.0, True)
    record.write(file)
    assert AgeRecord.read(file, 1.0, now) == record
    assert AgeRecord.read(file, 2.0, now) == AgeRecord(2.0, now)  # of another life


@pytest.mark.parametrize("text", ["", "{}", "[1]", "null", '{"began": 1}', '{"began": 1, "at": 3}', "\0\0"])
def test_a_damaged_file_is_a_new_record(tmp_path: Path, text: str) -> None:
    now = Moment("a", 5.0, 5.0)
    (tmp_path / "age.json").write_text(text)
    assert AgeRecord.read(tmp_path / "age.json", 1.0, now) == AgeRecord(1.0, now)


def test_numbers_that_are_none_are_not_taken(tmp_path: Path) -> None:
    now = Moment("a", 5.0, 5.0)
    AgeRecord(1.0, now).write(tmp_path / "age.json")
    found = json.loads((tmp_path / "age.json").read_text())
    (tmp_path / "age.json").write_text(json.dumps({**found, "cost": float("nan")}))
    assert AgeRecord.read(tmp_path / "age.json", 1.0, now) == AgeRecord(1.0, now)
