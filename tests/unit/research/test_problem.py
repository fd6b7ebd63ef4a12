from __future__ import annotations

import math

import pytest

from overtone.curves import CurveTable
from overtone.errors import GoalError
from overtone.research.problem import Problem


def curve(config, t):
    return None


def test_the_target_of_a_table_is_the_worst_of_the_best():
    rows = [[k / 10, k / 10 + 0.05] for k in range(10)]
    table = CurveTable(None, {"acc": rows})
    up = Problem.of_table(table, "acc", "max", best=0.2)
    assert (up.target, up.num_samples, up.max_t, up.name) == (pytest.approx(0.85), 40, 2, "table")
    down = Problem.of_table(table, "acc", "min", best=0.2, name="other", draws=1)
    assert (down.target, down.num_samples, down.name) == (0.1, 10, "other")


def test_at_least_one_row_is_best_and_nan_is_none():
    table = CurveTable(None, {"loss": [[math.nan, math.nan], [0.5, math.nan], [0.7, 0.6]]}, lengths=[2, 2, 2])
    assert Problem.of_table(table, "loss", "min").target == 0.5
    only = CurveTable(None, {"loss": [[math.nan]]}, lengths=[1])
    with pytest.raises(GoalError, match="no value of 'loss'"):
        Problem.of_table(only, "loss", "min")


def test_a_search_must_end():
    with pytest.raises(ValueError, match="a search must end"):
        Problem(curve, "loss", "min", num_samples=-1)
    with pytest.raises(ValueError, match="a search must end"):
        Problem(curve, "loss", "min", num_samples=0, budget_s=5)
    assert Problem(curve, "loss", "min", num_samples=-1, budget_s=5).name == "curve"


def test_the_mode_is_max_or_min():
    with pytest.raises(GoalError, match='mode=\'up\': choose "max" or "min"'):
        Problem(curve, "loss", "up")
