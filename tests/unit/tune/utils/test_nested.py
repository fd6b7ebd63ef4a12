"""Nested dicts and lists as one level, and back."""

from collections import OrderedDict

import pytest

from overtone.tune.utils import (
    deep_update,
    flatten_dict,
    merge_dicts,
    unflatten_dict,
    unflatten_list_dict,
    unflattened_lookup,
)

NESTED = {"a": {"b": 1, "c": {"d": [2, {"e": 3}]}}, "f": 4}


def test_dicts_are_flattened_and_nested_again():
    flat = {"a/b": 1, "a/c/d": [2, {"e": 3}], "f": 4}
    assert flatten_dict(NESTED) == flat
    assert unflatten_dict(flat) == NESTED
    assert flatten_dict(NESTED, delimiter=".")["a.c.d"] == [2, {"e": 3}]
    assert NESTED["a"]["b"] == 1
    assert flatten_dict({"a": {}, "b": 1}) == {"b": 1}


def test_lists_are_flattened_only_if_that_is_asked_for():
    flat = {"a/b": 1, "a/c/d/0": 2, "a/c/d/1/e": 3, "f": 4}
    assert flatten_dict(NESTED, flatten_list=True) == flat
    assert unflatten_list_dict(flat) == NESTED
    assert unflatten_list_dict({"0/a": 1, "1/a": 2}) == [{"a": 1}, {"a": 2}]
    with pytest.raises(ValueError, match="a: places 0, 2 do not make a list"):
        unflatten_list_dict({"a/0": 1, "a/2": 2})


def test_the_type_of_a_dict_stays():
    assert type(flatten_dict(OrderedDict(a=1))) is OrderedDict
    nested = unflatten_dict(OrderedDict({"a/b": 1}))
    assert (type(nested), type(nested["a"])) == (OrderedDict, OrderedDict)


def test_keys_that_would_be_mistaken_are_refused():
    with pytest.raises(ValueError, match="'b/c' contains '/'"):
        flatten_dict({"a": {"b/c": 1}}, prevent_delimiter=True)
    with pytest.raises(ValueError, match="'b/c' contains '/'"):
        flatten_dict({"a": [{"b/c": 1}]}, prevent_delimiter=True, flatten_list=True)
    with pytest.raises(TypeError, match="'a' is a value already, 1"):
        unflatten_dict({"a": 1, "a/b": 2})


def test_a_value_is_looked_up_by_its_flat_key():
    assert unflattened_lookup("a/c/d/1/e", NESTED) == 3
    assert unflattened_lookup("a/b", {"a/b": 5, "a": {"b": 6}}) == 5
    assert unflattened_lookup("a.b", NESTED, delimiter=".") == 1
    assert unflattened_lookup("a/x", NESTED, default=None) is None
    for key in ("a/x", "a/c/d/7", "a/c/d/x", "f/x"):
        with pytest.raises(KeyError, match="there is no"):
            unflattened_lookup(key, NESTED)


def test_dicts_are_merged_into_a_new_one():
    one, other = {"a": {"b": 1}, "c": [1]}, {"a": {"d": 2}, "c": 3}
    assert merge_dicts(one, other) == {"a": {"b": 1, "d": 2}, "c": 3}
    assert one == {"a": {"b": 1}, "c": [1]}


def test_an_update_changes_inner_dicts_in_place():
    original = {"a": {"b": 1}, "c": 2}
    assert deep_update(original, {"a": {"b": 3}}) is original
    assert original == {"a": {"b": 3}, "c": 2}
    for new in ({"d": 1}, {"a": {"d": 1}}):
        with pytest.raises(KeyError, match="'d' is unknown"):
            deep_update({"a": {"b": 1}}, new)
    assert deep_update({"a": {"b": 1}}, {"a": {"d": 1}}, allow_new_subkey_list=["a"]) == {
        "a": {"b": 1, "d": 1}
    }
    assert deep_update({"a": {"b": 1}}, {"a": {"d": 1}}, override_all_key_list=["a"]) == {"a": {"d": 1}}
    typed = {"a": {"type": "x", "b": 1}}
    changed = deep_update(dict(typed), {"a": {"type": "y"}}, override_all_if_type_changes=["a"])
    assert changed == {"a": {"type": "y"}}
    assert deep_update(typed, {"a": {"type": "x"}}, override_all_if_type_changes=["a"])["a"]["b"] == 1
