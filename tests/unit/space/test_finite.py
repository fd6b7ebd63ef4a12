"""Spaces that can be counted, and gone through."""

from math import inf

from overtone.space import Cube, choice, grid_search, normal_prior, qrandint, quniform, randint, uniform
from overtone.space.finite import points, size
from overtone.space.tree import parse

TREE = {
    "n": randint(0, 3),
    "model": choice([{"kind": "a", "depth": randint(1, 3)}, {"kind": "b"}, None]),
    "steps": [quniform(0, 0.5, 0.25), 7],
}


def test_sizes():
    assert size(parse(TREE)) == 3 * (2 + 1 + 1) * 3
    assert size(parse({"x": uniform(0, 1), "n": randint(0, 3)})) == inf
    assert size(parse({"g": grid_search([1, 2]), "q": normal_prior(qrandint(0, 8, 2), 4)})) == 10
    assert size(parse({})) == 1


def test_every_point_is_there_once_and_is_a_configuration():
    cube = Cube(TREE)
    found = list(points(cube))
    assert len(set(found)) == 36
    assert all(tuple(cube.to_unit(cube.from_unit(point))) == point for point in found)
    assert len({repr(cube.from_unit(point)) for point in found}) == 36


def test_whole_numbers_beyond_the_precision_of_a_float_are_told_apart() -> None:
    domain = randint(2**70, 2**70 + 4)
    places = [domain.cdf(value) for value in domain.values()]
    assert places == [0.125, 0.375, 0.625, 0.875]
    assert [domain.quantile(u) for u in places] == list(domain.values())
