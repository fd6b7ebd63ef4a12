from __future__ import annotations

import numpy as np
import pytest

from overtone.analysis.plots.objective import Objective
from overtone.analysis.plots.steps import best_so_far, steps_of

VALUES = np.array([np.nan, 3.0, 5.0, 1.0, 4.0, 0.0])
ALLOWED = np.array([True, True, True, True, True, False])


@pytest.mark.parametrize(("mode", "x", "y"), [("min", [1, 3, 5], [3, 1, 1]), ("max", [1, 2, 5], [3, 5, 5])])
def test_the_best_value_so_far_passes_over_trials_that_are_not_allowed(
    mode: str, x: list[int], y: list[int]
) -> None:
    steps = best_so_far(Objective("loss", mode, VALUES), ALLOWED)
    assert (steps.x.tolist(), steps.y.tolist()) == (x, y)


def test_without_a_mode_there_is_no_best_value() -> None:
    assert not len(best_so_far(Objective("loss", None, VALUES), ALLOWED).x)


def test_values_count_in_the_order_of_their_times() -> None:
    times = np.array([0.0, 9.0, 2.0, 4.0, np.nan, 5.0])
    steps = best_so_far(Objective("loss", "min", VALUES), np.ones(6, bool), times)
    assert (steps.x.tolist(), steps.y.tolist()) == ([2, 4, 5, 9], [5, 1, 0, 0])


def test_many_steps_become_one_a_pixel() -> None:
    x = np.arange(100_000.0)
    steps = steps_of(x, x)
    assert len(steps.x) <= 2_003
    assert (steps.x[0], steps.x[-1], steps.y[-1]) == (0, 99_999, 99_999)
    assert np.abs(steps.y - steps.x).max() == 0
    assert np.diff(steps.x).max() < 200
