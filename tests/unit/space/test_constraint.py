"""Spaces with a constraint: as dicts, as data, and drawn from by random and grid search."""

import pickle

import pytest

from overtone.errors import SpaceError
from overtone.searchers import BasicVariantGenerator
from overtone.space import allows, grid_search, parse, pin, space, space_from_data, space_to_data, uniform


def smaller(config):
    return config["a"] < config["b"]


def drawn(searched, n, **arguments):
    searcher = BasicVariantGenerator(num_samples=n, **arguments)
    searcher.on_start(searched, 1)
    return [searcher.suggest(i) for i in range(searcher.total)]


def test_it_is_the_dict_that_it_is_made_of():
    made = space({"a": 1, "b": 2}, constraint=smaller)
    assert made == {"a": 1, "b": 2}
    assert pickle.loads(pickle.dumps(made)).constraint is smaller
    assert allows(parse(made), made)
    assert not allows(parse(made), {"a": 3, "b": 2})
    assert allows(parse({"a": 1}), {"a": 1})
    assert pin(made, {"a": 1}).constraint is smaller


def test_what_is_no_constraint():
    with pytest.raises(SpaceError, match="constraint=True must be a function"):
        space({"a": 1}, constraint=True)
    with pytest.raises(SpaceError, match="inner: a constraint is for the whole space"):
        parse({"inner": space({"a": 1}, constraint=smaller)})
    with pytest.raises(SpaceError, match="raised KeyError: 'b' for {'a': 1}"):
        allows(parse(space({"a": 1}, constraint=smaller)), {"a": 1})


def test_its_data_says_that_there_is_one():
    data = space_to_data(space({"a": 1}, constraint=smaller))
    with pytest.raises(SpaceError, match=r"pass the space again.*smaller"):
        space_from_data(data)


def test_points_of_a_grid_that_are_not_allowed_are_left_out():
    searched = space({"a": grid_search([1, 2, 3]), "b": grid_search([1, 2, 3])}, constraint=smaller)
    assert [(c["a"], c["b"]) for c in drawn(searched, 1)] == [(1, 2), (1, 3), (2, 3)]
    assert len(drawn(searched, 2)) == 6


def test_what_is_drawn_is_drawn_until_it_is_allowed():
    searched = space({"a": uniform(0, 1), "b": uniform(0, 1), "c": grid_search([1, 2])}, constraint=smaller)
    found = drawn(searched, 20)
    assert len(found) == 40
    assert all(c["a"] < c["b"] for c in found)
    assert found == drawn(searched, 20)


def test_nothing_is_allowed(monkeypatch):
    monkeypatch.setattr("overtone.space.allowed._TRIES", 100)
    with pytest.raises(SpaceError, match="allows nothing that is in it"):
        drawn(space({"a": grid_search([1, 2]), "b": 0}, constraint=smaller), 1)
    with pytest.raises(SpaceError, match="allowed none of 100 configurations, such as"):
        drawn(space({"a": uniform(0, 1), "b": -1}, constraint=smaller), 1)
    with pytest.raises(
        SpaceError, match=r"points_to_evaluate\[0\]: the constraint of the space allows nothing"
    ):
        drawn(space({"a": uniform(0, 1), "b": 0.5}, constraint=smaller), 1, points_to_evaluate=[{"a": 0.75}])
