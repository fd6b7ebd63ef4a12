"""Outcomes as arrays."""

import numpy as np

from overtone.searchers.encoding import Encoding
from overtone.searchers.evidence import Evidence, Growing
from overtone.searchers.told import Outcome
from overtone.space import Cube, randint, uniform

ENCODING = Encoding(Cube({"n": randint(0, 4), "x": uniform(0, 1)}))


def outcomes(n, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Outcome(
            (float(rng.integers(4)) / 4 + 0.125, float(rng.integers(3)) / 2),
            () if rng.random() < 0.2 else (float(rng.choice([0.0, 1.0, 2.0, np.nan, np.inf, -np.inf])),),
        )
        for _ in range(n)
    ]


def same(a, b):
    return all(np.array_equal(u, v, equal_nan=True) for u, v in zip(a.arrays(), b.arrays(), strict=True))


def test_what_grows_is_what_is_made_at_once():
    told = outcomes(40)
    growing = Growing(ENCODING)
    for n in (1, 2, 3, 9, 10, 39, 40, 7):
        assert same(growing.of(told[:n]), Evidence.of(told[:n], ENCODING, (1, 0)))


def test_another_objective_makes_it_anew():
    growing = Growing(ENCODING)
    one = Outcome((0.125, 0.0), (1.0,))
    growing.of([one])
    both = growing.of([one, Outcome((0.125, 0.0), (1.0, 2.0))])
    assert both.kind == (2, 0)
    assert np.isnan(both.scores[0]).all()


def test_the_best_and_those_nearest_to_the_very_best():
    for seed in range(5):
        every = Evidence.of(outcomes(30, seed), ENCODING)
        keys = -np.nan_to_num(every.score(), nan=-np.inf, posinf=np.inf)
        order = np.argsort(keys, kind="stable")
        distance = np.square(every.x - every.x[order[0]]).sum(1)
        near = sorted(order[5:], key=lambda i: distance[i])[:6]  # of equally near ones the better
        assert same(every.best(11), every.rows(np.sort(np.append(order[:5], near))))
