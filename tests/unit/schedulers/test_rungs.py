"""Where rungs are, and what it takes to pass one."""

import inspect

import pytest

from overtone.schedulers.rungs import Rung, milestones
from overtone.tune.schedulers import (
    DEHB,
    MOASHA,
    PASHA,
    ASHAScheduler,
    HyperBandScheduler,
    SuccessiveHalving,
)


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
        ([-float("inf"), 0.5], 3, -float("inf")),
        ([-float("inf"), -float("inf"), 0.5, 0.9], 2, -float("inf")),
        ([0.5, float("inf")], 3, 0.5),
        ([-float("inf"), float("inf")], 3, -float("inf")),
        ([-1.7e308, 1.7e308], 3, -1.7e308),
    ],
)
def test_cutoff_is_the_quantile_above_which_one_in_factor_lies(scores, factor, bar):
    rung = Rung(1)
    for score in reversed(scores):
        rung.add(score)
    found = rung.cutoff(factor)
    assert found == (bar if bar is None else pytest.approx(bar))


def test_nan_counts_as_the_worst_score():
    rung = Rung(1)
    assert [rung.add(score) for score in (float("nan"), 0.5, float("nan"), -1.0)] == [1, 1, 3, 2]
    assert rung.cutoff(2) == -float("inf")


def test_who_may_go_on_from_a_rung():
    rung = Rung(3)
    ranks = [rung.add(score, name) for name, score in zip("abcdef", (1, 5, 3, 5, 2, 4), strict=True)]
    assert ranks == [1, 1, 2, 2, 4, 3]
    assert list(rung.ready(3)) == ["b", "d"]
    assert rung.leave("b")
    assert not rung.leave("b")
    assert list(rung.ready(3)) == ["d"]  # b's place is taken for good
    assert list(rung.ready(2)) == ["d", "f"]
    assert (rung.n_waiting, rung.waiting(), "d" in rung, "b" in rung) == (
        5,
        ["a", "e", "c", "f", "d"],
        True,
        False,
    )
    rung.add(9.0)  # counted, and does not wait
    assert (list(rung.ready(7)), list(rung.ready(2))) == ([], ["d"])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"max_t": float("inf")}, ValueError, "max_t=inf: give a number above 0, and finite"),
        ({"max_t": "81"}, TypeError, "max_t='81': give a number"),
        ({"grace_period": None}, TypeError, "grace_period=None: give a number"),
        ({"brackets": 2.5}, TypeError, "brackets=2.5: give a whole number"),
        ({"reduction_factor": 1.0001}, ValueError, "reduction_factor=1.0001 makes more than 500 rungs"),
    ],
)
@pytest.mark.parametrize("kind", [ASHAScheduler, HyperBandScheduler, SuccessiveHalving, PASHA, MOASHA, DEHB])
def test_what_would_make_no_rungs_or_no_end_of_them(kind, arguments, error, message):
    takes = inspect.signature(kind).parameters
    if takes.keys() >= arguments.keys():
        with pytest.raises(error, match=message):
            kind(**{"max_t": 9, **arguments})
