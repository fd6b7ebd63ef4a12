"""Configs as one level, and with their tuples."""

from __future__ import annotations

import json
from types import MappingProxyType

from overtone import tune
from overtone.space import encode_config, flatten
from overtone.space.nesting import with_tuples


def test_nested_keys_are_joined() -> None:
    nested = {"a": {"b": {"c": 1}, "d": [1, {"e": 2}]}, "f": None, "g": MappingProxyType({"h": 1})}
    assert flatten(nested) == {"a/b/c": 1, "a/d": [1, {"e": 2}], "f": None, "g/h": 1}


def test_an_empty_mapping_is_a_value() -> None:
    assert flatten({"a": {}}) == {"a": {}}


def test_the_place_of_a_value_that_is_not_data_becomes_its_description() -> None:
    place = {"__space__": "act", "index": 1, "shown": "torch.nn.Tanh"}
    assert flatten({"config": {"act": place}}) == {"config/act": "torch.nn.Tanh"}


def test_tuples_are_tuples_again():
    space = {"sizes": (64, 64), "net": tune.choice([{"layers": tune.choice([(1, (2,)), []])}])}
    config = {"sizes": (64, 64), "net": {"layers": (1, (2,))}, "x": [0.5, None]}
    assert with_tuples(json.loads(json.dumps(encode_config(space, config)))) == config


def test_what_is_no_data_stays_described():
    found = with_tuples(encode_config({"kind": dict}, {"kind": dict}))
    assert found["kind"]["shown"] == "builtins.dict"
