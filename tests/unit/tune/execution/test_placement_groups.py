"""Placement groups are demands."""

import copy
import pickle

import pytest

from overtone import tune
from overtone.core.resources import Resources
from overtone.errors import ResourceError
from overtone.run.plan import resources_for
from overtone.tune.execution.placement_groups import PlacementGroupFactory, resource_dict_to_pg_factory


def test_it_has_the_bundles_as_they_are_written():
    group = PlacementGroupFactory([{"CPU": 1, "GPU": 0.5, "tape": 0}, {"cpu": 2, "tape": 1}], "SPREAD")
    assert group.bundles == [{"CPU": 1.0, "GPU": 0.5}, {"CPU": 2.0, "tape": 1.0}]
    assert group.strategy == "SPREAD"
    assert group.required_resources == {"CPU": 3.0, "GPU": 0.5, "tape": 1.0}
    assert group.total() == {"cpu": 3.0, "gpu": 0.5, "tape": 1.0}
    assert (group.head_cpus, group.head_bundle_is_empty) == (1.0, False)
    assert group.resources() == Resources.of([{"cpu": 1, "gpu": 0.5}, {"cpu": 2, "tape": 1}], "SPREAD")
    group.bundles[0]["CPU"] = 7
    assert group.head_cpus == 1.0


def test_the_head_may_be_empty():
    group = PlacementGroupFactory([{}, {"CPU": 1}])
    assert group.bundles == [{"CPU": 1.0}]
    assert (group.head_cpus, group.head_bundle_is_empty) == (0.0, True)
    assert group.resources().bundles == ((), (("cpu", 1.0),))
    assert eval(repr(group)) == group != PlacementGroupFactory([{"CPU": 1}])


def test_two_are_equal_that_ask_for_the_same():
    one = PlacementGroupFactory([{"CPU": 1, "GPU": 0}], strategy="PACK")
    assert one == PlacementGroupFactory([{"CPU": 1.0}])
    assert hash(one) == hash(PlacementGroupFactory([{"CPU": 1}]))
    assert one != PlacementGroupFactory([{"CPU": 1}], "SPREAD")
    assert one != PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}])
    assert one != 1
    assert str(one) == "cpu 1"


def test_it_survives_being_copied_and_sent():
    group = PlacementGroupFactory([{"CPU": 1}])
    assert pickle.loads(pickle.dumps(group)) == group == copy.deepcopy(group)


def test_what_cannot_be_a_demand_is_an_error():
    with pytest.raises(ResourceError, match="'PILE'"):
        PlacementGroupFactory([{"CPU": 1}], "PILE")
    with pytest.raises(ResourceError, match="must look like"):
        PlacementGroupFactory([])


def test_amounts_become_a_group():
    assert resource_dict_to_pg_factory() == PlacementGroupFactory([{"CPU": 1}])
    made = resource_dict_to_pg_factory({"cpu": 2, "custom_resources": {"tape": 1}})
    assert made == PlacementGroupFactory([{"CPU": 2, "tape": 1}])


@pytest.mark.parametrize(
    "wanted",
    [
        {"cpu": 1, "gpu": 0, "custom_resources": {"tape": 2}},
        PlacementGroupFactory([{"CPU": 1, "tape": 2}]),
        tune.ScalingConfig(trainer_resources={"CPU": 1, "tape": 2}),
    ],
    ids=["a dict", "a group", "a scaling config"],
)
def test_a_class_asks_for_resources_in_any_form(wanted):
    class Asks(tune.Trainable):
        @classmethod
        def default_resource_request(cls, config):
            return wanted if config["asks"] else None

    fixed, resources = resources_for(None, Asks)
    assert fixed is None
    assert resources({"asks": True}) == Resources.of({"cpu": 1, "tape": 2})
    assert resources({"asks": False}) == Resources.of({"cpu": 1})
