"""Ax's parameters and constraints as those of a space."""

import pickle

import pytest

from overtone.errors import SpaceError
from overtone.searchers.library.ax_space import Linear, from_ax, limited, linear
from overtone.space import choice, lograndint, loguniform, randint, uniform
from overtone.space.constraint import allows, space


def test_parameters_become_domains():
    given = [
        {"name": "a", "type": "range", "bounds": [0.0, 1.0]},
        {"name": "b", "type": "range", "bounds": [1, 3]},
        {"name": "c", "type": "range", "bounds": [1, 3], "value_type": "float", "log_scale": True},
        {"name": "d", "type": "range", "bounds": [1, 8], "value_type": "int", "log_scale": True},
        {"name": "e/f", "type": "choice", "values": ["x", "y"]},
        {"name": "e/g", "type": "fixed", "value": 4},
    ]
    assert repr(from_ax(given)) == repr({
        "a": uniform(0.0, 1.0), "b": randint(1, 4), "c": loguniform(1, 3), "d": lograndint(1, 9),
        "e": {"f": choice(["x", "y"]), "g": 4},
    })  # fmt: skip
    assert from_ax({"a": 1}) == {"a": 1}
    assert from_ax(None) is None


@pytest.mark.parametrize("given", [[{"type": "range"}], [{"name": "a", "type": "other"}], ["a"]])
def test_a_parameter_without_a_counterpart_is_refused(given):
    with pytest.raises(SpaceError):
        from_ax(given)


@pytest.mark.parametrize(
    ("text", "factors", "most"),
    [
        ("x + y <= 3", {"x": 1, "y": 1}, 3),
        ("x1 - 2*x2 >= -1.5e1", {"x1": -1, "x2": 2}, 15),
        ("x <= y", {"x": 1, "y": -1}, 0),
        ("0.5 * deep/x + 1 < 2", {"deep/x": 0.5}, 1),
        ("- x <= 1", {"x": -1}, 1),
    ],
)
def test_a_constraint_is_a_sum(text, factors, most):
    assert linear(text) == Linear(factors, most)


@pytest.mark.parametrize(
    "text", ["x", "x == 1", "x <= ", "x y <= 1", "x <= 1 <= 2", "x*y <= 1", "exp(x) <= 1", "", 3]
)
def test_what_is_no_linear_constraint_is_refused(text):
    with pytest.raises(SpaceError):
        linear(text)


def test_constraints_join_those_of_the_space():
    root = limited(space({"x": 1, "deep": {"y": 2}}, constraint=_is_odd), ["x + deep/y <= 5"])
    root = pickle.loads(pickle.dumps(root))
    assert allows(root, {"x": 1, "deep": {"y": 2}})
    assert not allows(root, {"x": 2, "deep": {"y": 2}})
    assert not allows(root, {"x": 5, "deep": {"y": 2}})


def _is_odd(config):
    return config["x"] % 2 == 1
