import pytest

from overtone.core.randomness import keyed
from overtone.space import Variants, choice, count, grid_points, grid_search, uniform


def rng_for(key):
    return keyed(1, key)


def test_keys_are_sorted_and_the_first_varies_fastest():
    space = {"y": grid_search(["a", "b", "c"]), "x": grid_search([1, 2, 3])}
    assert count(space) == 9
    assert [tuple(p.values()) for p in grid_points(space)] == [
        (1, "a"), (2, "a"), (3, "a"), (1, "b"), (2, "b"), (3, "b"), (1, "c"), (2, "c"), (3, "c"),
    ]  # fmt: skip
    variants = Variants(space)
    assert [variants.config(i, rng_for) for i in range(2)] == [{"y": "a", "x": 1}, {"y": "a", "x": 2}]


def test_paths_are_sorted_at_every_depth_and_lists_by_place():
    space = {
        "b": grid_search([1, 2]),
        "a": {"d": grid_search([1, 2]), "c": [grid_search([1, 2]) for _ in range(2)]},
    }
    assert list(next(grid_points(space))) == ["a/c/0", "a/c/1", "a/d", "b"]
    assert next(p for i, p in enumerate(grid_points(space)) if i == 1) == {
        "a/c/0": 2,
        "a/c/1": 1,
        "a/d": 1,
        "b": 1,
    }


def test_a_million_points_are_not_listed():
    variants = Variants({f"k{i}": {"grid_search": list(range(10))} for i in range(18)})
    assert variants.size == 10**18
    assert variants.config(123, rng_for)["k0"] == 3
    assert variants.config(10**18 - 1, rng_for)["k17"] == 9
    with pytest.raises(IndexError):
        variants.config(10**18, rng_for)


def test_branches_of_a_grid_may_have_grids_and_domains():
    space = {
        "opt": grid_search(
            [{"name": "sgd", "m": grid_search([0, 0.9])}, {"name": "adam", "b": uniform(0, 1)}, 5]
        )
    }
    variants = Variants(space)
    configs = [variants.config(i, rng_for)["opt"] for i in range(variants.size)]
    assert configs[:2] == [{"name": "sgd", "m": 0}, {"name": "sgd", "m": 0.9}]
    assert configs[2]["name"] == "adam"
    assert configs[3:] == [5]


def test_without_grids_there_is_one_point():
    assert count({"x": choice([1, 2])}) == 1
    assert list(grid_points({"x": uniform(0, 1)})) == [{}]
