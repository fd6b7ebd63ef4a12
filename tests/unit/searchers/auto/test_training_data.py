"""Observations as arrays."""

from dataclasses import fields

import numpy as np

from overtone.searchers.auto.encoding import Encoding
from overtone.searchers.auto.observations import Observation
from overtone.searchers.auto.training_data import Growing
from overtone.space import Cube, randint, uniform

ENCODING = Encoding(Cube({"n": randint(0, 4), "x": uniform(0, 1)}))


def observations(n, seed=0, n_trials=None):
    """Of trials whose levels grow; each trial is observed once if `n_trials` is None."""
    rng = np.random.default_rng(seed)
    found, levels = [], {}
    for i in range(n):
        most = min(len(levels), (n_trials or n) - 1)
        trial = i if n_trials is None else int(rng.integers(most + 1))
        levels[trial] = levels.get(trial, -1) + 1
        scores = () if rng.random() < 0.2 else (float(rng.choice([0.0, 1.0, 2.0, np.inf, -np.inf])),)
        point = (float(rng.integers(4)) / 4 + 0.125, float(rng.integers(3)) / 2)
        found.append(Observation(trial, point, scores, level=levels[trial] + 0.25, is_complete=False))
    return found


def evidence(some, n_trials=None):
    return Growing(ENCODING).of(some, n_trials)


def same(a, b):
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name), equal_nan=True) for f in fields(a))


def test_what_grows_is_what_is_made_at_once():
    for told in (observations(40), observations(40, 1, 9)):
        growing = Growing(ENCODING)
        for n in (1, 2, 3, 9, 10, 39, 40, 7):
            assert same(
                growing.of(told[:n]), evidence([Observation(99, (0.1, 0.1), (0.0,)), *told][1 : n + 1])
            )


def test_the_evidence_of_the_first_trials_is_that_of_the_time_when_they_were_all():
    told = observations(60, 2, 12)
    growing = Growing(ENCODING)
    growing.of(told)
    for n in range(1, max(one.trial for one in told) + 2):
        end = next(i for i, one in enumerate(told) if one.trial == n - 1) + 1
        assert same(growing.of(told, n), evidence(told[:end]))


def test_a_trial_counts_with_its_last_observation_and_keeps_its_curve():
    told = [
        Observation(0, (0.125, 0.0), (1.0,), level=0.0, is_complete=False),
        Observation(1, (0.375, 0.5), (5.0,), level=0.0, is_complete=False),
        Observation(0, (0.125, 0.0), (2.0,), (), 3.0, 1.5, is_complete=False),
        Observation(0, (0.125, 0.0), (3.0,), (), 4.0, 1.75, is_complete=True),
    ]
    every = evidence(told)
    assert every.scores.tolist() == [[3.0], [5.0]]
    assert every.levels.tolist() == [1.75, 0.0]
    assert every.is_complete.tolist() == [True, False]
    assert every.seconds[0] == 4.0
    assert np.array_equal(every.curves[:, :, 0], [[1.0, 2.0], [np.nan, np.nan]], equal_nan=True)


def test_another_objective_makes_it_anew():
    growing = Growing(ENCODING)
    one = Observation(0, (0.125, 0.0), (1.0,))
    growing.of([one])
    both = growing.of([one, Observation(1, (0.125, 0.0), (1.0, 2.0))])
    assert both.scores.shape == (2, 2)
    assert np.isnan(both.scores[0]).all()


def test_the_best_and_those_nearest_to_the_very_best():
    for seed in range(5):
        every = evidence(observations(30, seed))
        keys = -np.nan_to_num(every.score(), nan=-np.inf, posinf=np.inf)
        order = np.argsort(keys, kind="stable")
        distance = np.square(every.x - every.x[order[0]]).sum(1)
        near = sorted(order[5:], key=lambda i: distance[i])[:6]  # of equally near ones the better
        assert same(every.best(11), every.rows(np.sort(np.append(order[:5], near))))


def test_the_farthest_rows_include_those_that_came_as_far():
    levels = [0.0, 3.0, 1.0, 3.0, 0.0, 2.0]
    told = [Observation(i, (0.125, i / 5), (0.0,), level=level) for i, level in enumerate(levels)]
    found = evidence(told)
    assert np.flatnonzero(found.farthest(1)).tolist() == [1, 3]
    assert np.flatnonzero(found.farthest(3)).tolist() == [1, 3, 5]
    assert found.farthest(9).all()
