"""The parameters of sweep files."""

from math import e, exp

import pytest

from overtone.errors import ArgumentError
from overtone.space import dsl
from overtone.sweep.parameters import first_of_grid, space_of


@pytest.mark.parametrize(
    ("given", "domain"),
    [
        ({"value": 3}, 3),
        ({"values": [1, "a"]}, dsl.choice([1, "a"])),
        ({"min": 1, "max": 4}, dsl.randint(1, 5)),
        ({"min": 1, "max": 4.0}, dsl.uniform(1.0, 4.0)),
        ({"distribution": "uniform", "min": 0, "max": 1}, dsl.uniform(0.0, 1.0)),
        ({"distribution": "log_uniform_values", "min": "1e-5", "max": 1}, dsl.loguniform(1e-5, 1.0)),
        ({"distribution": "log_uniform", "min": 0, "max": 1}, dsl.loguniform(1.0, e)),
        ({"distribution": "inv_log_uniform", "min": -1, "max": 0}, dsl.loguniform(1.0, e)),
        ({"distribution": "q_uniform", "min": 1, "max": 9, "q": 2}, dsl.qrandint(2, 8, 2)),
        ({"distribution": "q_uniform", "min": 0.1, "max": 0.5, "q": 0.1}, dsl.quniform(0.1, 0.5, 0.1)),
        ({"distribution": "q_log_uniform_values", "min": 8, "max": 64, "q": 8}, dsl.qlograndint(8, 64, 8)),
        ({"distribution": "normal", "mu": 1, "sigma": 2}, dsl.randn(1.0, 2.0)),
        ({"distribution": "q_normal", "q": 0.5}, dsl.qrandn(0.0, 1.0, 0.5)),
        ({"values": ["a", "b"], "probabilities": [0.75, 0.25]}, dsl.choice(["a", "a", "a", "b"])),
        ({"values": [1, 2, 3], "probabilities": [0.33, 0.33, 0.33]}, dsl.choice([1, 2, 3])),
    ],
)
def test_distributions(given, domain):
    assert repr(space_of({"x": given})["x"]) == repr(domain)


def test_nested_parameters():
    space = space_of({"model": {"parameters": {"layers": {"values": [1, 2]}, "act": {"value": "relu"}}}})
    assert repr(space) == repr({"model": {"layers": dsl.choice([1, 2]), "act": "relu"}})


def test_grids():
    grid = space_of({"a": {"values": [1, 2]}, "b": {"min": 1, "max": 2}, "c": {"value": 0}}, is_grid=True)
    assert first_of_grid(grid, 3) == [
        {"a": 1, "b": 1, "c": 0},
        {"a": 1, "b": 2, "c": 0},
        {"a": 2, "b": 1, "c": 0},
    ]
    with pytest.raises(ArgumentError, match="has no grid"):
        space_of({"a": {"min": 0.1, "max": 1}}, is_grid=True)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "must have a value"),
        (3, "must be a mapping"),
        ({"vlaues": [1]}, "did you mean 'values'"),
        ({"distribution": "log_unifrm_values", "min": 1, "max": 2}, "did you mean 'log_uniform_values'"),
        ({"distribution": "uniform", "min": 1}, "needs 'max'"),
        ({"min": 2.0, "max": 1.0}, "parameter 'x'"),
        ({"distribution": "uniform", "min": "low", "max": 1}, "parameter 'x'"),
        ({"values": [1, 2], "probabilities": [1]}, "probabilities"),
        ({"values": [1, 2], "probabilities": [0.9, 0.4]}, "their sum is 1.3 and must be 1"),
        ({"values": [1, 2], "probabilities": [0.1, 0.4]}, "their sum is 0.5 and must be 1"),
        ({"distribution": "log_normal", "sigma": 0}, "sigma: 0.0 must be above 0"),
        ({"distribution": "beta", "a": 1}, "needs 'b'"),
        ({"distribution": "beta", "a": 0, "b": 1}, "must be above 0"),
        ({"distribution": "q_beta", "a": 1, "b": 1, "q": 0}, "must be above 0, such as 0.1"),
        ({"distribution": "normal", "mu": ".nan"}, "'.nan' must be a number"),
    ],
)
def test_an_invalid_parameter_is_named(given, error):
    with pytest.raises(ArgumentError, match=error):
        space_of({"x": given})


@pytest.mark.parametrize(
    ("given", "median", "mean"),
    [
        ({"distribution": "log_normal", "mu": 1, "sigma": 0.5}, e, exp(1.125)),
        ({"distribution": "beta", "a": 2, "b": 2}, 0.5, 0.5),
        ({"distribution": "beta", "a": 0.5, "b": 1.5}, 0.1634, 0.25),
    ],
)
def test_distributions_without_a_domain_are_equally_likely_quantiles(given, median, mean):
    values = space_of({"x": given})["x"].categories
    assert values == sorted(values)
    assert (len(values), len(set(values))) == (64, 64)
    assert (values[31] + values[32]) / 2 == pytest.approx(median, rel=0.03)
    assert sum(values) / 64 == pytest.approx(mean, rel=0.03)
    assert repr(space_of({"x": given})) == repr(space_of({"x": given}))


def test_quantiles_are_multiples_of_q():
    whole = space_of({"x": {"distribution": "q_log_normal", "mu": 2, "q": 2}})["x"].categories
    assert {type(one) for one in whole} == {int}
    assert not any(one % 2 for one in whole)
    parts = space_of({"x": {"distribution": "q_beta", "a": 1, "b": 1, "q": 0.25}})["x"].categories
    assert set(parts) == {0.0, 0.25, 0.5, 0.75, 1.0}
