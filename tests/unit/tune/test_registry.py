"""Trainables by name."""

import pytest

from overtone.errors import TrainableError, UsageError
from overtone.tune.registry import (
    get_trainable_cls,
    is_function_trainable,
    register_env,
    register_input,
    register_trainable,
    registered,
    registered_env,
    registry_contains_input,
    registry_get_input,
    validate_trainable,
)


def test_the_last_registration_of_a_name_counts():
    register_trainable("test_registry.a", len)
    register_trainable("test_registry.a", max)
    assert registered("test_registry.a") is max


def test_an_unknown_name_is_answered_with_the_nearest_one():
    register_trainable("test_registry.model", len)
    with pytest.raises(TrainableError, match=r"'test_registry.mdoel'; did you mean 'test_registry.model'\?"):
        registered("test_registry.mdoel")


def test_what_cannot_be_called_is_refused():
    with pytest.raises(UsageError, match="got 3"):
        register_trainable("test_registry.three", 3)


def test_a_registered_trainable_is_had_by_its_name():
    register_trainable("test_registry.class", dict)
    register_trainable("test_registry.function", len)
    assert get_trainable_cls("test_registry.class") is dict
    validate_trainable("test_registry.class")
    assert [is_function_trainable(one) for one in ("test_registry.class", "test_registry.function", len, dict, "?")] == [
        False, True, True, False, False,
    ]  # fmt: skip
    with pytest.raises(TrainableError, match="no trainable is registered as 'test_registry.klass'"):
        validate_trainable("test_registry.klass")


def test_environments_have_names_too():
    register_env("test_registry.env", len)
    assert registered_env("test_registry.env") is len
    with pytest.raises(TrainableError, match=r"'test_registry.evn'; did you mean 'test_registry.env'\?"):
        registered_env("test_registry.evn")
    with pytest.raises(TypeError, match=r"register_env\('a', ...\) got 3"):
        register_env("a", 3)


def test_inputs_have_names_too():
    register_input("test_registry.input", len)
    assert registry_contains_input("test_registry.input")
    assert registry_get_input("test_registry.input") is len
    assert not registry_contains_input("test_registry.none")
    with pytest.raises(KeyError):
        registry_get_input("test_registry.none")
    with pytest.raises(TypeError, match=r"register_input\('a', ...\) got 3"):
        register_input("a", 3)
