import pytest

from overtone.errors import SpaceError
from overtone.space import Cube, choice, grid_search, loguniform, qrandint, randint, sample_from, uniform

SPACE = {
    "opt": choice([{"name": "sgd", "lr": loguniform(1e-4, 1)}, {"name": "adam", "lr": uniform(0, 1)}]),
    "n": randint(0, 4),
    "act": grid_search(["relu", "tanh"]),
    "k": 3,
    "twice": sample_from(lambda c: c.n * 2),
    "l": [uniform(0, 1)],
}


def test_dimensions_are_fixed_and_know_their_branch():
    cube = Cube(SPACE)
    assert [d.path for d in cube.dimensions] == ["act", "l/0", "n", "opt", "opt/lr", "opt/lr"]
    assert [d.conditions for d in cube.dimensions[3:]] == [(), ((3, 0),), ((3, 1),)]
    assert cube.dimensions[0].values == ("relu", "tanh")
    assert cube.dimensions[2].domain == randint(0, 4)
    assert len({d.key for d in cube.dimensions}) == len(cube) == 6


def test_there_and_back():
    cube = Cube(SPACE)
    config = cube.from_unit([0.9, 0.25, 0.6, 0.1, 0.5, 0.77])
    assert config == {
        "opt": {"name": "sgd", "lr": pytest.approx(1e-2)},
        "n": 2,
        "act": "tanh",
        "k": 3,
        "twice": 4,
        "l": [0.25],
    }
    assert cube.to_unit(config) == pytest.approx([0.75, 0.25, 0.625, 0.25, 0.5, 0.5])
    assert cube.is_active(4, [0.9, 0.25, 0.6, 0.1, 0.5, 0.77])
    assert not cube.is_active(5, [0.9, 0.25, 0.6, 0.1, 0.5, 0.77])


def test_values_beyond_a_domain_are_taken_to_its_end():
    assert Cube({"x": uniform(0, 1)}).to_unit({"x": 1.2}) == [1.0]
    assert Cube({"x": uniform(0, 1)}).from_unit([-3]) == {"x": 0.0}


def test_random_computed_values_are_the_same_at_every_call():
    import random

    cube = Cube({"x": sample_from(lambda _: random.random()), "y": sample_from(lambda _: uniform(0, 1))})
    assert len(cube) == 0
    assert cube.from_unit([]) == cube.from_unit([])


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "the configuration has no x"),
        ({"x": "a", "c": 1}, r"x='a' is not a value of uniform\(0, 1\)"),
        ({"x": 0.5, "c": 3}, "c=3 is none of 1, 2"),
    ],
)
def test_configurations_that_are_not_of_the_space(config, says):
    with pytest.raises(SpaceError, match=says):
        Cube({"x": uniform(0, 1), "c": choice([1, 2])}).to_unit(config)


def test_points_of_the_wrong_length():
    with pytest.raises(SpaceError, match="has 1 coordinates, not 2"):
        Cube({"x": uniform(0, 1)}).from_unit([0, 1])


def test_whole_numbers_that_floats_cannot_tell_apart():
    wide, stepped = randint(-(2**70), 2**62), qrandint(0, 2**62, 8)
    assert [wide.contains(k) for k in (2**62 - 1, 2**62, -(2**70), -(2**70) - 1)] == [
        True,
        False,
        True,
        False,
    ]
    assert wide.cast(2**62 - 1) == 2**62 - 1
    assert [stepped.contains(k) for k in (2**62, 2**62 - 1, 2**62 - 8)] == [True, False, True]
