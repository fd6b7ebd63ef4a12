from __future__ import annotations

import numpy as np
import pytest

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.scales import scale_of

MOST = float(np.finfo(float).max)


def scale(values, **axis):
    points = s.Points(np.array(values, dtype=float), np.array(values, dtype=float))
    return scale_of(s.Axis(**axis), (points,), True)


@pytest.mark.parametrize(
    "values",
    [[], [np.nan], [0.0], [5.0], [1e300, -1e300], [1e-310, 0], [np.inf, 1.0], [1.0, 1.0 + 1e-15], [1e16, 1e16 + 2], [-3, 7]],
)  # fmt: skip
@pytest.mark.parametrize("axis", [{}, {"scale": "log"}, {"is_time": True}, {"is_reversed": True}])
def test_every_axis_has_limits_and_ticks(values, axis):
    found = scale(values, **axis)
    assert np.isfinite([found.low, found.high]).all()
    assert found.low < found.high
    ticks = found.ticks(400)
    assert len(ticks) <= 30
    shares = found.shares(values)
    assert ((shares >= -1e-9) & (shares <= 1 + 1e-9) | np.isnan(shares)).all()


def test_a_logarithmic_axis_leaves_out_zero_and_negative_values():
    shares = scale([-1.0, 0.0, 1.0, 100.0], scale="log").shares([-1.0, 0.0, 1.0, 100.0])
    assert np.isnan(shares).tolist() == [True, True, False, False]


def test_ticks_are_round():
    labels = [label for _, label in scale([0.0, 1.0]).ticks(400)]
    assert labels == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    labels = [label for _, label in scale([1e-5, 1e-1], scale="log").ticks(400)]
    assert labels == ["1e-5", "1e-4", "0.001", "0.01", "0.1"]
    labels = [label for _, label in scale([0.0, 1800.0], is_time=True).ticks(400)]
    assert labels == ["0", "10 min", "20 min", "30 min"]


def test_categories_count_from_zero():
    found = scale([0.0, 1.0], scale="category", categories=("a", "b"))
    assert [(round(share, 3), label) for share, label in found.ticks(100)] == [(0.25, "a"), (0.75, "b")]


def test_whole_numbers_have_no_ticks_between_them():
    assert [label for _, label in scale([0.0, 2.0], is_whole=True).ticks(800)] == ["0", "1", "2"]


@pytest.mark.parametrize("ends", [(0.4, 1.6), (3.9, 5.1), (0.85, 0.97), (1e6, 1e6 + 3)])
def test_a_narrow_axis_has_two_ticks(ends):
    assert len(scale(ends).ticks(90)) >= 2


@pytest.mark.parametrize(
    ("low", "high"), [(-1e308, 1e308), (5e-324, 1e-322), (1e308, MOST), (5e-324, MOST), (-MOST, MOST)]
)
@pytest.mark.parametrize("kind", ["linear", "log"])
def test_places_are_finite_at_the_ends_of_numbers(low, high, kind):
    values = np.array([low, high])
    found = scale_of(s.Axis(scale=kind), [s.Points(values, values)], of_x=True)
    shares = found.shares(values)
    assert np.isfinite(shares[values > 0]).all()
    assert (np.diff(shares) > 0).all() or low < 0
    assert all(0 <= share <= 1 for share, _ in found.ticks(400))
