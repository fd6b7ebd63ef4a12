"""Which configurations were taken, and whether there are any more."""

import pytest

from overtone.errors import SpaceError
from overtone.searchers.without_repeats import Distinct
from overtone.space import randint
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
