"""`resources_per_trial` in all its forms."""

import pytest

from overtone import tune
from overtone.core.resources import Resources
from overtone.errors import ResourceError
from overtone.worker.trainables.demand import demand


@pytest.mark.parametrize(
    ("given", "amounts"),
    [
        ({"cpu": 2, "gpu": 0.5}, {"cpu": 2, "gpu": 0.5}),
        ({"CPU": 2}, {"cpu": 2}),
        ({"cpu": 1, "extra_cpu": 3}, {"cpu": 4}),
        ({"extra_gpu": 1, "cpu": 1}, {"cpu": 1, "gpu": 1}),
        ({"cpu": 1, "gpu": None}, {"cpu": 1}),
        ({"cpu": 1, "custom_resources": {"license": 2}}, {"cpu": 1, "license": 2}),
        ({"custom_resources": {"a": 1}, "extra_custom_resources": {"extra_a": 2}}, {"a": 3}),
        ({"memory": "2GB"}, {"memory": 2e9}),
        ({"memory": "1GiB", "extra_memory": 1024}, {"memory": 2**30 + 1024}),
        ({"cpu": 1, "object_store_memory": 100}, {"cpu": 1}),
    ],
)
def test_a_mapping_is_flattened(given, amounts):
    assert demand(given) == Resources.of(amounts)


def test_none_is_left_to_the_trainable():
    assert demand(None) is None


def test_a_list_has_one_bundle_an_entry():
    assert demand([{"cpu": 1}, {"gpu": 1}]) == Resources.of([{"cpu": 1}, {"gpu": 1}])


def test_a_placement_group_is_its_demand():
    group = tune.PlacementGroupFactory([{"CPU": 1}, {"GPU": 1}], strategy="SPREAD")
    assert demand(group) == group.resources() == Resources.of([{"cpu": 1}, {"gpu": 1}], "SPREAD")
    assert demand(lambda config: group)({}) == group.resources()
    assert Resources.of(group) == group.resources()


def test_a_function_of_the_config_is_translated_when_it_is_called():
    made = demand(lambda config: {"cpu": config["n"], "extra_cpu": 1})
    assert made({"n": 2}) == Resources.of({"cpu": 3})


@pytest.mark.parametrize("given", [3, "2 CPUs", [{"cpu": 1}, 2]])
def test_anything_else_is_an_error_that_shows_it(given):
    with pytest.raises(ResourceError, match="must look like"):
        demand(given)
