"""Domains with a prior."""

import pickle
from random import Random

import pytest

from overtone import tune
from overtone.errors import SpaceError
from overtone.space import (
    choice,
    loguniform,
    normal_prior,
    qlograndint,
    randint,
    space_from_data,
    space_to_data,
    uniform,
)


def test_values_near_the_mean_are_more_likely_and_none_is_impossible():
    domain, rng = normal_prior(loguniform(1e-6, 1e-1), 1e-3, 0.5), Random(1)
    values = [domain.sample(rng) for _ in range(1000)]
    near = sum(10**-3.5 < value < 10**-2.5 for value in values)
    # 0.8 x 68 % of the normal part, and 0.2 x a fifth of the axis
    assert near == pytest.approx(1000 * (0.8 * 0.683 + 0.2 / 5), abs=60)
    assert min(values) < 1e-5
    assert max(values) > 1e-2


@pytest.mark.parametrize("domain", [randint(0, 50), qlograndint(2, 100, 2)])
def test_each_value_has_its_place(domain):
    prior = normal_prior(domain, 10)
    assert [prior.quantile(prior.cdf(value)) for value in domain.values()] == list(domain.values())
    assert prior.size == domain.size
    assert prior.contains(10)
    assert not prior.contains(10.5)


def test_the_ends_and_the_middle():
    prior = normal_prior(uniform(-1, 1), 0.0, 0.25)
    assert prior.quantile(0) == pytest.approx(-1)
    assert prior.quantile(1) == pytest.approx(1)
    assert prior.quantile(0.5) == pytest.approx(0)


def test_as_data():
    made = {"lr": normal_prior(loguniform(1e-4, 1.0), 0.01, 1), "n": normal_prior(randint(0, 9), 3)}
    assert space_from_data(space_to_data(made)) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert repr(made["n"]) == "normal_prior(randint(0, 9), 3)"


def test_mistakes():
    with pytest.raises(SpaceError, match="must be an interval"):
        normal_prior(choice([1, 2]), 1)
    with pytest.raises(SpaceError, match="mean=3 lies outside of uniform"):
        normal_prior(uniform(0, 1), 3)
    with pytest.raises(SpaceError, match="sd=0 must be above 0"):
        normal_prior(uniform(0, 1), 0.5, 0)


@pytest.mark.parametrize(
    "prior", [tune.normal_prior(tune.uniform(0, 10), 2, 1), tune.normal_prior(tune.loguniform(1e-4, 1), 0.5)]
)
def test_the_density_is_the_slope_of_the_cdf(prior):
    n = 1000
    ends = [prior.cdf(prior.domain.quantile(i / n)) for i in range(n + 1)]
    for i in range(n):
        assert prior.density((i + 0.5) / n) == pytest.approx((ends[i + 1] - ends[i]) * n, rel=1e-3)
