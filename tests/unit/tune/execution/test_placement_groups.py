"""Placement groups are demands."""

import copy
import pickle

import pytest

from overtone.core.resources import Resources
from overtone.errors import ResourceError
from overtone.tune.execution.placement_groups import PlacementGroupFactory


def test_it_has_the_bundles_of_the_demand():
    group = PlacementGroupFactory([{"CPU": 1, "GPU": 0.5}, {"CPU": 2}], "SPREAD")
    assert isinstance(group, Resources)
    assert group.bundles == (((("cpu", 1.0)), ("gpu", 0.5)), (("cpu", 2.0),))
    assert group.strategy == "SPREAD"
    assert group.required_resources == {"cpu": 3.0, "gpu": 0.5}


def test_the_head_may_be_empty():
    assert PlacementGroupFactory([{}, {"CPU": 1}]).bundles == ((), (("cpu", 1.0),))


def test_it_survives_being_copied_and_sent():
    group = PlacementGroupFactory([{"CPU": 1}])
    assert pickle.loads(pickle.dumps(group)) == group == copy.deepcopy(group)


def test_an_unknown_strategy_is_an_error():
    with pytest.raises(ResourceError, match="'PILE'"):
        PlacementGroupFactory([{"CPU": 1}], "PILE")
