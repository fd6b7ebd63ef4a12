"""How curves that were cut short go on: like others that were about as good."""

from __future__ import annotations

import math

import pytest

from overtone.core.resources import Resources
from overtone.engines.simulated import World
from overtone.research.continuation import Continuation
from overtone.research.recording import RecordedCurve, Recording

CPU = Resources.of({"cpu": 1})


def recording(*curves: tuple[list[float], float]) -> Recording:
    """Curves by their values and the seconds of each iteration."""
    made = [
        RecordedCurve(f"trial_{i}", CPU, {}, [({"loss": value}, pace) for value in values])
        for i, (values, pace) in enumerate(curves)
    ]
    return Recording(made, [], "loss", "min", World(), None, 0.0, 0.0, 0.0, 0, [])


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways without common factors."""
    monkeypatch.setattr("overtone.research.continuation.CHANGE_SD", 0.0)
    monkeypatch.setattr("overtone.research.continuation.PACE_SD", 0.0)


def ways(known: Recording, i: int, last: int, n: int = 30) -> list[tuple[list[float], list[float]]]:
    """Values and seconds of what follows curve i, in several ways."""
    found = []
    for seed in range(n):
        way = Continuation(known, last, seed)
        points = [way(known.curves[i], t) for t in range(len(known.curves[i].points) + 1, last + 1)]
        found.append(([one[0]["loss"] for one in points], [one[1] for one in points]))
        assert way(known.curves[i], last + 1) is None
    return found


@pytest.mark.usefixtures("exactly")
def test_it_takes_the_changes_of_its_donor_from_where_it_is():
    known = recording(([5.0, 4.0, 2.0, 1.0], 1.0), ([6.0, 5.0], 1.0))
    for values, seconds in ways(known, 1, 4):
        assert values == [3.0, 2.0]
        assert seconds == pytest.approx([1.0, 1.0])


@pytest.mark.usefixtures("exactly")
def test_it_takes_another_donor_where_the_first_one_ends():
    known = recording(([5.0, 4.0, 2.0], 1.0), ([5.0, 4.5, 4.0, 3.75], 1.0), ([6.0], 1.0))
    found = {tuple(values) for values, _ in ways(known, 2, 4)}
    assert found == {(5.0, 3.0, 2.75), (5.5, 5.0, 4.75)}


@pytest.mark.usefixtures("exactly")
def test_donors_are_the_nearest():
    far = [([100.0 + i, 0.0], 1.0) for i in range(20)]
    near = [([10.0 + i / 10, 9.0 + i / 10], 1.0) for i in range(20)]
    for (value,), _ in ways(recording(*far, *near, ([10.0], 1.0)), 40, 2):
        assert value == pytest.approx(9.0)


def test_beyond_what_is_known_a_curve_stays_as_it_is():
    known = recording(([5.0, 4.0], 2.0), ([6.0], 1.0))
    for values, seconds in ways(known, 0, 4, 3):
        assert (values, seconds) == ([4.0, 4.0], pytest.approx([2.0, 2.0]))


def test_one_that_diverged_stays_so():
    known = recording(([5.0, 4.0, 3.0], 1.0), ([math.nan], 3.0))
    for values, seconds in ways(known, 1, 3, 3):
        assert all(map(math.isnan, values))
        assert seconds == pytest.approx([3.0, 3.0])


@pytest.mark.usefixtures("exactly")
def test_its_pace_is_between_its_own_and_that_of_its_donors():
    known = recording(([5.0, 4.0, 3.0], 1.0), ([5.0], 16.0))
    for _, seconds in ways(known, 1, 3, 3):
        assert seconds == pytest.approx([4.0, 4.0])  # half of the logarithm, where nothing else is known
    many = [([5.0, 4.0, 3.0], 2.0**k) for k in range(-4, 5)]
    for _, seconds in ways(recording(*many, ([5.0], 16.0)), len(many), 3):
        assert 8 < seconds[0] < 33  # where pace is known to last


def test_each_way_is_one_and_the_same():
    known = recording(*[([5.0 + i, 4.0, i / 10], 1.0) for i in range(9)], ([7.0], 1.0))
    found = ways(known, 9, 3)
    assert found == ways(known, 9, 3)
    assert len({tuple(values) for values, _ in found}) > 3


def test_ways_have_a_common_factor_of_changes_and_one_of_paces():
    known = recording(([5.0, 4.0], 1.0), ([8.0], 1.0), ([7.0], 1.0))
    ratios = set()
    for seed in range(20):
        way = Continuation(known, 2, seed)
        (one, one_s), (other, other_s) = ((way(known.curves[i], 2)) for i in (1, 2))
        assert 8.0 - one["loss"] == pytest.approx(7.0 - other["loss"])
        assert one_s == pytest.approx(other_s)
        ratios.add(round(8.0 - one["loss"], 6))
    assert min(ratios) < 0.8 < 1.25 < max(ratios)
