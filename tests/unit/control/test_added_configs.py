"""Configs of added trials and of clones, by the space."""

import pytest

from overtone.control.added_configs import completion
from overtone.errors import SpaceError
from overtone.space import choice, grid_search, randint, sample_from, uniform
from overtone.space.constraint import Space
from overtone.space.tree import parse

SPACE = {
    "lr": uniform(0, 1),
    "layers": randint(1, 9),
    "size": grid_search([(8, 8), (16, 16)]),
    "model": {"width": randint(1, 99), "opt": choice(["sgd", {"name": "adam", "beta": uniform(0, 1)}])},
    "wd": sample_from(lambda config: config["lr"] / 10),
}
CONFIG = {"lr": 0.5, "layers": 2, "size": (8, 8), "model": {"width": 7, "opt": "sgd"}, "wd": 0.05}


def clone(changes, source=CONFIG, space=SPACE):
    return completion(parse(space), 3)(changes, 12, source)


def test_a_clone_keeps_each_value_that_is_not_changed_also_of_a_grid():
    assert clone({"lr": 0.25}) == {**CONFIG, "lr": 0.25}
    assert clone({"model/width": 8}) == {**CONFIG, "model": {"width": 8, "opt": "sgd"}}


def test_a_changed_value_has_the_type_of_its_domain():
    changed = clone({"layers": 3.0, "size": [16, 16]})
    assert (changed["size"], changed["layers"], type(changed["layers"])) == ((16, 16), 3, int)


def test_a_value_of_the_cloned_trial_that_left_the_space_is_kept():
    perturbed = {**CONFIG, "lr": 1.2, "more": 1}
    assert clone({"layers": 5}, perturbed) == {**perturbed, "layers": 5}


def test_a_clone_is_refused_outside_of_the_space_and_of_its_constraint():
    space = Space({"a": randint(0, 10), "b": randint(0, 10)}, constraint=lambda c: c["a"] + c["b"] <= 10)
    source = {"a": 3, "b": 7}
    assert clone({"a": 2}, source, space) == {"a": 2, "b": 7}
    with pytest.raises(SpaceError, match="constraint of the space does not allow {'a': 4, 'b': 7}"):
        clone({"a": 4}, source, space)
    with pytest.raises(SpaceError, match="lies outside"):
        clone({"a": 40}, source, space)
    with pytest.raises(SpaceError, match="not in the space"):
        clone({"c": 1}, source, space)


def test_the_given_values_stay_as_they_are():
    changes = {"model": {"width": 8}, "model/opt": "sgd"}
    assert clone(changes)["model"] == {"width": 8, "opt": "sgd"}
    assert changes == {"model": {"width": 8}, "model/opt": "sgd"}


def test_an_added_config_needs_a_value_of_each_grid():
    complete = completion(parse(SPACE), 3)
    with pytest.raises(SpaceError, match="leaves 2 points of a grid"):
        complete({"lr": 0.5}, 12)
    whole = complete({"size": [8, 8]}, 12)
    assert whole == complete({"size": (8, 8)}, 12)
    assert whole.keys() == SPACE.keys()
