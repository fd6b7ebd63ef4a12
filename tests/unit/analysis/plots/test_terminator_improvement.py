from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from overtone.analysis.plots.terminator_improvement import terminator_improvement
from overtone.testing.trial_tables import table


@pytest.mark.parametrize("mode", ["min", "max"])
def test_the_gain_of_a_half_is_that_of_all_halves(mode: str) -> None:
    values = np.random.default_rng(0).normal(size=9)
    best = min if mode == "min" else max
    found = terminator_improvement(table({}, {"loss": values}, goals=[("loss", mode)]))
    assert found.x.tolist() == list(range(1, 9))
    for n, improvement in zip(range(2, 10), found.improvement, strict=True):
        halves = [best(one) for one in combinations(values[:n].tolist(), n // 2)]
        assert improvement == pytest.approx(abs(np.mean(halves) - best(values[:n].tolist())))


def test_it_shrinks_as_the_search_goes_on() -> None:
    found = terminator_improvement(table({}, {"loss": np.random.default_rng(0).random(100_000)}))
    assert len(found.x) <= 300
    assert found.x[-1] == 99_999
    assert found.improvement[found.x >= 1_000].max() < found.improvement[:10].mean() / 50


def test_unknown_evaluators_are_refused() -> None:
    with pytest.raises(ValueError, match="evaluator='gp': must be one of 'doubling', 'stagnation'"):
        terminator_improvement(table({}, {"loss": [1.0]}), evaluator="gp")
