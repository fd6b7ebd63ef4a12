"""Where rungs are, and what it takes to pass one."""

import pytest

from overtone.schedulers.rungs import Rung, milestones


@pytest.mark.parametrize(
    ("first", "last", "factor", "skip", "rungs"),
    [
        (1, 100, 4, 0, [1, 4, 16, 64]),
        (1, 64, 4, 0, [1, 4, 16]),
        (1, 65, 4, 0, [1, 4, 16, 64]),
        (1, 244, 3, 0, [1, 3, 9, 27, 81, 243]),  # math.log(243, 3) is 4.999...
        (1, 243, 3, 0, [1, 3, 9, 27, 81]),
        (1, 100, 4, 1, [4, 16, 64]),
        (1, 100, 4, 4, []),
        (10, 10, 2, 0, []),
        (2, 20, 2.5, 0, [2, 5, 12.5]),
        (1, 10**6 + 1, 10, 0, [10**k for k in range(7)]),
    ],
)
def test_milestones(first, last, factor, skip, rungs):
    assert milestones(first, last, factor, skip) == rungs


@pytest.mark.parametrize(
    ("scores", "factor", "bar"),
    [
        ([], 3, None),
        ([5.0], 3, 5.0),
        ([0.0, 3.0], 3, 2.0),
        ([0.0, 1.0, 2.0, 3.0], 4, 2.25),
        ([1.0, 2.0, 3.0], 2, 2.0),
        ([-float("inf"), -float("inf")], 4, -float("inf")),
        ([-float("inf"), 1.0, 1.0, 1.0], 3, 1.0),
    ],
)
def test_cutoff_is_the_quantile_above_which_one_in_factor_lies(scores, factor, bar):
    rung = Rung(1)
    for score in reversed(scores):
        rung.add(score)
    found = rung.cutoff(factor)
    assert found == (bar if bar is None else pytest.approx(bar))
