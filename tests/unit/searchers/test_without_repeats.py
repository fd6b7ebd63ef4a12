"""Which configurations were taken, and whether there are any more."""

import random

import pytest

from overtone.errors import SpaceError
from overtone.searchers.without_repeats import Distinct
from overtone.space import choice, randint, sample_from
from overtone.space.constraint import space


def test_a_finite_space_ends_once_all_that_is_allowed_was_taken():
    distinct = Distinct(space({"x": randint(0, 9)}, constraint=lambda config: config["x"] % 4 == 0), 1)
    found = [distinct.first_new(i, []) for i in range(4)]
    assert sorted(one["x"] for one in found if one is not None) == [0, 4, 8]
    assert found[3] is None


def test_a_finite_space_of_which_nothing_is_allowed_is_an_error():
    distinct = Distinct(space({"x": randint(0, 9)}, constraint=lambda config: False), 1)
    with pytest.raises(SpaceError, match="none of the 9 configurations"):
        distinct.first_new(0, [])


def test_values_computed_at_random_make_points_differ_once_all_of_them_were_taken():
    distinct = Distinct({"x": choice([1, 2]), "y": sample_from(lambda: random.random())}, 1)
    found = [distinct.first_new(i, []) for i in range(8)]
    assert {one["x"] for one in found[:2]} == {one["x"] for one in found[2:]} == {1, 2}
    assert len({one["y"] for one in found}) == 8


def test_values_computed_from_others_make_no_points_differ():
    distinct = Distinct({"x": choice([1, 2]), "y": sample_from(lambda spec: [spec.config.x])}, 1)
    assert [distinct.first_new(i, []) is None for i in range(3)] == [False, False, True]
