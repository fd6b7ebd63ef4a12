"""Trainables with parameters and resources."""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
import pytest

from overtone.errors import ResourceError
from overtone.testing import faulty
from overtone.worker.shared_objects import ObjectRef
from overtone.worker.trainables.with_parameters import (
    Bound,
    as_bound,
    trainable_name,
    with_parameters,
    with_resources,
)


def train(config: Any, data: Any, scale: float = 1.0) -> Any:
    return float(np.sum(data)) * scale


def test_parameters_are_bound_and_large_ones_are_shared() -> None:
    bound = with_parameters(train, data=np.ones(1_000_000), scale=2.0)
    assert isinstance(bound.parameters["data"], ObjectRef)
    assert bound.parameters["scale"] == 2.0
    assert bound({}) == 2e6
    assert bound({}, scale=1.0) == 1e6


def test_small_ones_travel_with_it() -> None:
    data = [1, 2]
    assert with_parameters(train, data=data).parameters["data"] is data


def test_what_cannot_be_pickled_is_kept_for_engines_in_this_process() -> None:
    lock = threading.Lock()
    assert with_parameters(train, data=lock).parameters["data"] is lock


def test_wrappers_nest_in_any_order() -> None:
    one = with_resources(with_parameters(train, data=[1]), {"cpu": 2})
    two = with_parameters(with_resources(train, {"cpu": 2}), data=[1])
    for bound in (one, two):
        assert bound.trainable is train
        assert (bound.parameters, bound.resources) == ({"data": [1]}, {"cpu": 2})
    assert with_parameters(one, scale=3.0).parameters == {"data": [1], "scale": 3.0}


def test_as_bound_leaves_a_bound_one_alone() -> None:
    bound = Bound(train)
    assert as_bound(bound) is bound
    assert as_bound(train).trainable is train


def test_names() -> None:
    class Instance:
        def __call__(self) -> None: ...

    assert trainable_name(train) == "train"
    assert trainable_name(functools.partial(functools.partial(train, data=1), scale=2)) == "train"
    assert trainable_name(lambda config: 1) == "lambda"
    assert trainable_name(Instance()) == "Instance"
    assert trainable_name(faulty.Steps) == "Steps"
    assert with_parameters(train, data=1).__name__ == "train"


def test_options_of_a_cluster_stay_with_the_trainable() -> None:
    one = with_resources(
        with_parameters(train, data=[1]),
        {"cpu": 2},
        runtime_env={"pip": ["x"]},
        label_selector={"disk": "nvme"},
    )
    again = with_parameters(one, more=2)
    assert (again.runtime_env, again.label_selector) == ({"pip": ["x"]}, {"disk": "nvme"})
    assert (again.resources, dict(again.parameters)) == ({"cpu": 2}, {"data": [1], "more": 2})


@pytest.mark.parametrize("options", [{"runtime_env": ["pip"]}, {"label_selector": {"disk": 1}}])
def test_options_of_a_cluster_that_make_no_sense_are_errors(options: Any) -> None:
    with pytest.raises(ResourceError, match="must be a dict"):
        with_resources(train, {"cpu": 1}, **options)
