"""How hyperparameters are explored: by kind of mutation."""

import random as global_random
from random import Random

import pytest

from overtone import tune
from overtone.schedulers.explore import changes, completed, explore, inside
from overtone.schedulers.pbt import PopulationBasedTraining


def values(value, allowed, resample=0.0, factors=(1.2, 0.8), n=40):
    random = Random(1)
    return {explore({"x": value}, {"x": allowed}, random, resample, factors)["x"] for _ in range(n)}


def test_a_number_is_multiplied_by_a_factor():
    assert values(10.0, tune.uniform(0, 100)) == {12.0, 8.0}
    assert values(10.0, lambda: 5.0) == {12.0, 8.0}


def test_whole_numbers_stay_whole():
    found = values(10, tune.randint(1, 100)) | values(10, lambda: 5)
    assert found == {12, 8}
    assert {type(one) for one in found} == {int}


def test_a_small_whole_number_is_not_stuck_and_never_becomes_zero():
    assert values(2, tune.randint(1, 100)) == {1, 3}
    assert values(1, lambda: 5) == {1, 2}


def test_bounds_are_kept():
    assert values(95.0, tune.uniform(0, 100)) == {100.0, 76.0}
    assert values(9, tune.randint(1, 10)) == {9, 7}
    assert values(1e-4, tune.loguniform(1e-4, 1e-1)) == {1e-4, 1.2e-4}


def test_a_quantum_is_kept():
    assert values(0.5, tune.quniform(0, 1, 0.25)) == {0.25, 0.75}
    assert values(64, tune.qrandint(32, 128, 32)) == {32, 96}


def test_a_list_moves_to_a_neighbour():
    assert values(2, [1, 2, 4, 8]) == {1, 4}
    assert values(8, (1, 2, 4, 8)) == {4, 8}
    assert values(3, [1, 2]) == {1, 2}  # a value that is not in it is drawn


def test_a_choice_is_kept_or_drawn():
    assert values("b", tune.choice(["a", "b", "c"])) == {"b"}
    assert values("b", tune.choice(["a", "b", "c"]), resample=1) == {"a", "b", "c"}


def test_what_is_no_number_is_drawn():
    assert values(True, lambda: False) == {False}
    assert values("x", tune.sample_from(lambda config: config["x"] + "y")) == {"xy"}


def test_everything_is_drawn_anew_with_the_probability():
    assert values(10.0, lambda: 3.0, resample=1) == {3.0}
    assert values(8, [1, 2], resample=1) == {1, 2}
    assert len(values(1.0, tune.uniform(0, 1), resample=1)) == 40


def test_nested_values_and_those_that_are_missing():
    mutations = {"opt": {"lr": [1, 2, 3], "momentum": tune.uniform(0.5, 0.9)}, "size": lambda: 7}
    config = {"opt": {"lr": 2, "name": "sgd"}, "rest": [1]}
    found = explore(config, mutations, Random(1), 0, (2,))
    assert found["opt"]["lr"] in (1, 3)
    assert 0.5 <= found["opt"]["momentum"] <= 0.9
    assert (found["opt"]["name"], found["size"], found["rest"]) == ("sgd", 7, [1])
    assert config == {"opt": {"lr": 2, "name": "sgd"}, "rest": [1]}


def test_the_global_generators_serve_and_are_left_alone():
    global_random.seed(3)
    state = global_random.getstate()
    mutations = {"x": lambda: global_random.random()}
    one, two = (explore({}, mutations, Random(9), 0, (1,)) for _ in range(2))
    assert one == two
    assert global_random.getstate() == state


def test_a_function_has_the_last_word():
    found = explore({"a": 1}, {}, Random(1), 0, (), lambda config: {**config, "b": config["a"] + 1})
    assert found == {"a": 1, "b": 2}


def test_what_changed_as_text():
    assert changes({"lr": 0.1, "n": 1}, {"lr": 0.12, "n": 1, "m": "x"}) == "lr 0.1 -> 0.12, m None -> x"
    assert changes({"lr": 0.1}, {"lr": 0.1}) == ""


def test_the_nearest_value_of_a_domain():
    assert inside(tune.uniform(0, 1), 2.0) == 1.0
    assert inside(tune.uniform(0, 1), 0.1) == 0.1
    assert inside(tune.randint(1, 5), 9.7) == 4


def test_a_space_is_completed():
    domain = tune.uniform(0, 1)
    space = completed(
        {"a": 1, "in": {"b": 2}}, {"a": [3], "lr": domain, "n": [1, 2], "in": {"c": domain}, "f": lambda: 3}
    )
    assert (space["a"], space["lr"], space["in"]) == (1, domain, {"b": 2, "c": domain})
    assert space["n"] == tune.choice([1, 2])
    assert space["f"].sample() == 3


@pytest.mark.parametrize("value", [1e-4, 0.05])
def test_many_steps_never_leave_a_domain(value):
    domain, random = tune.loguniform(1e-4, 1e-1), Random(2)
    for _ in range(200):
        value = explore({"x": value}, {"x": domain}, random, 0.25, (1.2, 0.8))["x"]
        assert domain.contains(value)


def test_what_no_value_can_be_made_with():
    for factors in ((), 1.2):
        with pytest.raises(ValueError, match="perturbation_factors=.* give the factors"):
            explore({"x": 1.0}, {"x": tune.uniform(0, 2)}, Random(1), 0.0, factors)
    with pytest.raises(TypeError, match="custom_explore_fn returned None"):
        explore({"x": 1.0}, {}, Random(1), 0.0, (1.2, 0.8), lambda config: None)
    with pytest.raises(TypeError, match="hyperparam_mutations=.* give a dict"):
        PopulationBasedTraining(perturbation_interval=2, hyperparam_mutations=["lr"])
