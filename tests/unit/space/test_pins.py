import pytest

from overtone.core.randomness import keyed
from overtone.errors import SpaceError
from overtone.space import (
    Variants,
    choice,
    count,
    grid_search,
    nested,
    pin,
    quniform,
    randint,
    sample,
    sample_from,
    uniform,
)

SPACE = {
    "lr": uniform(0, 1),
    "n": randint(1, 5),
    "g": grid_search([1, 2, 3]),
    "opt": choice([{"name": "sgd", "m": uniform(0, 1)}, {"name": "adam"}, None]),
    "deep": {"q": quniform(0, 1, 0.1), "l": [choice([1, 2]), 3]},
    "f": sample_from(lambda c: c.lr),
    "c": 7,
}


def draw(space, point=0):
    return Variants(space).config(point, lambda key: keyed(1, key))


def test_what_a_point_names_is_held_and_the_rest_is_drawn_as_without_it():
    point = {"lr": 1, "deep": {"q": 0.30000000000000004}, "opt": {"name": "adam"}}
    config = draw(pin(SPACE, point))
    assert (config["lr"], config["deep"]["q"], config["opt"]) == (1.0, 0.3, {"name": "adam"})
    assert type(config["lr"]) is float
    assert config["n"] == draw(SPACE)["n"]
    assert config["f"] == 1.0


def test_a_grid_is_held_or_gone_through():
    assert count(pin(SPACE, {"g": 2})) == 1
    assert count(pin(SPACE, {"lr": 0.5})) == 3
    assert draw(pin(SPACE, {"g": 2}))["g"] == 2


def test_parts_of_branches_lists_computed_values_and_paths():
    config = sample(
        pin(SPACE, {"opt": {"m": 0.25}, "deep/l": [2, 3], "f": 9, "c": 7}), lambda key: keyed(1, key)
    )
    assert config["opt"] == {"name": "sgd", "m": 0.25}
    assert config["deep"]["l"] == [2, 3]
    assert (config["f"], config["c"]) == (9, 7)


def test_a_branch_that_is_named_whole_is_taken_before_one_that_it_is_part_of():
    space = {"x": choice([{"a": uniform(0, 1)}, choice([{}])])}
    assert draw(pin(space, {"x": {}})) == {"x": {}}


def test_of_equal_options_the_one_of_the_same_type_is_meant():
    assert draw(pin({"x": choice([1, True])}, {"x": True}))["x"] is True


@pytest.mark.parametrize(
    ("point", "says"),
    [
        (3, "3 is not a point"),
        ({"rate": 1}, "'rate' is not in the space, which has 'lr', 'n'"),
        ({"deep": {"x": 1}}, "deep: 'x' is not in the space, which has 'q', 'l'"),
        ({"deep": 3}, "deep=3 must be a dict"),
        ({"lr": 2}, r"lr=2 lies outside of uniform\(0, 1\)"),
        ({"lr": "a"}, "lr='a' lies outside"),
        ({"g": 4}, "g=4 is none of 1, 2, 3"),
        ({"opt": {"name": "rms"}}, "is none of"),
        ({"deep": {"l": [1]}}, "must be a list of 2"),
        ({"c": 8}, "c=8: the space fixes it at 7"),
    ],
)
def test_points_that_do_not_fit(point, says):
    with pytest.raises(SpaceError, match=says):
        pin(SPACE, point)


def test_nested():
    assert nested({"a/b": 1, "a/c/d": 2, "e": 3, 4: 5}) == {"a": {"b": 1, "c": {"d": 2}}, "e": 3, 4: 5}


def test_a_list_stands_for_a_tuple_as_json_has_it():
    space = {"size": choice([(1, 2), (3, (4, 5))]), "fixed": (1, 2), "grid": grid_search([(1, 2), (2, 1)])}
    config = draw(pin(space, {"size": [3, [4, 5]], "fixed": [1, 2], "grid": [2, 1]}))
    assert config == {"size": (3, (4, 5)), "fixed": (1, 2), "grid": (2, 1)}
    with pytest.raises(SpaceError, match="is none of"):
        pin(space, {"size": [3, 4, 5]})


@pytest.mark.parametrize("point", [{"x": "9" * 10**6}, {"y" * 10**5: 1}, ["9" * 10**6]])
def test_errors_about_long_values_are_short(point):
    with pytest.raises(SpaceError) as caught:
        pin({"x": uniform(0, 1)}, point)
    assert len(str(caught.value)) < 400
