import random

import pytest

from overtone.core.randomness import keyed
from overtone.errors import SpaceError
from overtone.space import choice, grid_search, loguniform, randint, sample, sample_from, uniform


def rng_for(trial=0, seed=1):
    return lambda key: keyed(seed, key, str(trial))


def test_constants_and_nesting_come_back_as_they_were():
    space = {"z": 1, "a": {"b": [1, {"c": uniform(0, 1)}], "t": (1, 2)}, "f": len}
    config = sample(space, rng_for())
    assert list(config) == ["z", "a", "f"]
    assert 0 <= config["a"]["b"][1]["c"] <= 1
    assert (config["a"]["t"], config["f"]) == ((1, 2), len)


def test_no_value_depends_on_the_other_hyperparameters():
    small = sample({"lr": uniform(0, 1), "opt": choice([{"m": uniform(0, 1)}])}, rng_for())
    branch = {"k": randint(0, 9), "m": uniform(0, 1)}
    large = sample({"a": uniform(0, 1), "opt": choice([branch]), "lr": uniform(0, 1)}, rng_for())
    assert small["lr"] == large["lr"]
    assert small["opt"]["m"] == large["opt"]["m"]
    assert small["lr"] != small["opt"]["m"]


def test_equal_paths_written_differently_are_drawn_independently():
    config = sample({"a/b": uniform(0, 1), "a": {"b": uniform(0, 1)}}, rng_for())
    assert config["a/b"] != config["a"]["b"]


@pytest.mark.parametrize(
    "function",
    [
        lambda spec: spec.config.x * 2,
        lambda spec: spec.config["x"] * 2,
        lambda config: config["x"] * 2,
        lambda config: config.x * 2,
        lambda config: config.get("x") * 2,
        lambda spec: spec["config"]["x"] * 2,
    ],
)
def test_functions_see_the_other_values(function):
    config = sample({"y": sample_from(function), "x": uniform(0, 1)}, rng_for())
    assert config["y"] == config["x"] * 2


def test_dependencies_are_resolved_in_any_order_and_depth():
    config = sample(
        {
            "a": sample_from(lambda spec: spec.config.b + 1),
            "b": sample_from(lambda spec: spec.config.model.layers[0].width + len(spec.config.model.layers)),
            "model": {"layers": [{"width": choice([4, 8])}, {"width": sample_from(lambda c: c.c)}]},
            "c": grid_search([7]),
        },
        rng_for(),
    )
    assert config["model"]["layers"][1]["width"] == 7
    assert config["a"] == config["model"]["layers"][0]["width"] + 3


def test_bare_functions_of_early_versions_are_computed_and_others_are_constants():
    def activation(x):
        return x

    config = sample({"x": 3, "y": lambda spec: spec.config.x, "z": lambda _: 5, "f": activation}, rng_for())
    assert (config["y"], config["z"], config["f"]) == (3, 5, activation)


def test_a_config_key_named_config_is_that_key_by_item():
    config = sample({"config": 5, "y": sample_from(lambda c: c["config"])}, rng_for())
    assert config["y"] == 5


def test_functions_may_return_domains_and_parts_of_the_configuration():
    config = sample(
        {
            "n": 3,
            "x": sample_from(lambda c: uniform(c.n, c.n + 1)),
            "all": sample_from(lambda c: [c.m, c.m.k]),
        }
        | {"m": {"k": choice([1, 2])}},
        rng_for(),
    )
    assert 3 <= config["x"] <= 4
    assert config["all"] == [config["m"], config["m"]["k"]]
    assert type(config["all"][0]) is dict


def test_only_the_chosen_branch_is_drawn():
    never = sample_from(lambda c: pytest.fail("drawn"))
    space = {"opt": choice([{"name": "sgd", "lr": loguniform(1e-3, 1)}, {"name": "no", "x": [never]}])}
    first = [t for t in range(20) if rng_for(t)("opt").randrange(2) == 0]
    assert len(first) > 3
    assert all(sample(space, rng_for(t))["opt"].keys() == {"name", "lr"} for t in first)


def test_branches_nest_and_categories_may_be_anything():
    inner = choice([{"x": uniform(0, 1)}, 7, len])
    seen = [sample({"a": choice([[inner, 1], dict, {"k": 1}])}, rng_for(t))["a"] for t in range(60)]
    assert dict in seen
    assert {"k": 1} in seen
    assert [7, 1] in seen
    assert [len, 1] in seen
    assert any(isinstance(value, list) and isinstance(value[0], dict) for value in seen)


def test_categories_are_copied_for_each_trial():
    space = {"a": choice([{"k": [1]}]), "b": [0, 1]}
    first = sample(space, rng_for())
    first["a"]["k"].append(2)
    first["b"].append(2)
    assert sample(space, rng_for()) == {"a": {"k": [1]}, "b": [0, 1]}


def test_global_generators_in_functions_follow_the_seed_and_are_left_alone():
    np = pytest.importorskip("numpy")
    space = {"x": sample_from(lambda: random.random()), "y": sample_from(lambda _: np.random.uniform())}
    before = random.getstate()
    first = sample(space, rng_for())
    assert random.getstate() == before
    np.random.seed(99)
    random.seed(99)
    assert sample(space, rng_for()) == first
    assert sample(space, rng_for(1)) != first


def test_a_cycle_is_named():
    space = {"a": {"b": sample_from(lambda s: s.config.c)}, "c": lambda spec: spec.config.a.b}
    with pytest.raises(SpaceError, match="circle: a/b -> c -> a/b"):
        sample(space, rng_for())


def test_a_function_that_raises_is_named_with_its_cause():
    with pytest.raises(
        SpaceError, match=r"y: sample_from\(.*lambda.*\) raised KeyError.*'q': there is only 'y'"
    ) as info:
        sample({"y": sample_from(lambda c: c["q"])}, rng_for())
    assert isinstance(info.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("space", "says"),
    [
        ([1], r"the search space is list \[1\]; it must be a dict"),
        (uniform(0, 1), "the search space is Float uniform"),
        ({"a": {"grid_search": []}}, r"a: grid_search\(\[\]\) is empty"),
        ({"a": {"grid_search": 3}}, r"a: grid_search\(3\)"),
        ({"a": choice([{"b": grid_search([1])}])}, "a/b: grid_search.*branch of a choice"),
        ({"a": sample_from(lambda _: grid_search([1]))}, "a: grid_search.*too late"),
        ({"a": uniform}, r"a: tune.uniform is the function itself; call it"),
        ({"a": {1: uniform(0, 1), "1": 2}}, "a: 1 is a key both as text and otherwise"),
    ],
)
def test_spaces_that_cannot_be_used(space, says):
    with pytest.raises(SpaceError, match=says):
        sample(space, rng_for())


def test_no_space_is_an_empty_one():
    assert sample(None, rng_for()) == {}
