"""Results as values for a model: the order stays, and nothing is infinite."""

import numpy as np
import pytest

from overtone.searchers.auto.targets import powered, ranked, scalarised


@pytest.mark.parametrize("target", [powered, ranked])
@pytest.mark.parametrize(
    "scores",
    [
        [3.0, 1.0, 2.0],
        [-np.inf, 0.0, 1.0],
        [np.nan, 5.0, 4.0],
        [np.inf, 1e300, -1e300],
        [2.0, 2.0, 2.0],
        [np.nan] * 3,
    ],
)
def test_the_order_stays_and_all_are_finite(target, scores):
    found = target(np.array(scores))
    assert np.isfinite(found).all()
    known = np.nan_to_num(np.array(scores), nan=-np.inf)
    for a, x in zip(known, found, strict=True):
        for b, y in zip(known, found, strict=True):
            assert a <= b or x >= y


def test_powered_makes_heavy_tails_normal():
    scores = -np.exp(np.random.default_rng(0).normal(0, 3, 400))
    y = powered(scores)
    before = float(np.mean(((scores - scores.mean()) / scores.std()) ** 3))
    assert abs(float(np.mean(y**3))) < 0.3 * abs(before)
    assert y.mean() == pytest.approx(0.0, abs=1e-9)
    assert y.std() == pytest.approx(1.0)


def test_ranked_is_normal_whatever_comes_and_equal_ones_stay_equal():
    found = ranked(np.array([10.0, 1e9, 10.0, -5.0]))
    assert found[0] == found[2]
    assert found[1] == -found[3]


def test_scalarised_prefers_what_the_weights_say():
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [np.nan, 1.0]])
    assert scalarised(scores, np.array([1.0, 0.0])).argmax() == 0
    assert scalarised(scores, np.array([0.0, 1.0])).argmax() in (1, 3)
    assert scalarised(scores, np.array([0.5, 0.5])).argmax() == 2
