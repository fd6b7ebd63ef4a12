"""Trainables by name."""

import pytest

from overtone.errors import TrainableError
from overtone.tune.registry import register_trainable, registered


def test_the_last_registration_of_a_name_counts():
    register_trainable("test_registry.a", len)
    register_trainable("test_registry.a", max)
    assert registered("test_registry.a") is max


def test_an_unknown_name_is_answered_with_the_nearest_one():
    register_trainable("test_registry.model", len)
    with pytest.raises(TrainableError, match=r"'test_registry.mdoel'; did you mean 'test_registry.model'\?"):
        registered("test_registry.mdoel")


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TrainableError, match="got 3"):
        register_trainable("test_registry.three", 3)
