from __future__ import annotations

from types import MappingProxyType

from overtone.space import flatten


def test_nested_keys_are_joined() -> None:
    nested = {"a": {"b": {"c": 1}, "d": [1, {"e": 2}]}, "f": None, "g": MappingProxyType({"h": 1})}
    assert flatten(nested) == {"a/b/c": 1, "a/d": [1, {"e": 2}], "f": None, "g/h": 1}


def test_an_empty_mapping_is_a_value() -> None:
    assert flatten({"a": {}}) == {"a": {}}


def test_the_place_of_a_value_that_is_not_data_becomes_its_description() -> None:
    place = {"__space__": "act", "index": 1, "shown": "torch.nn.Tanh"}
    assert flatten({"config": {"act": place}}) == {"config/act": "torch.nn.Tanh"}
