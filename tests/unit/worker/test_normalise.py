"""Metrics as plain data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from overtone.errors import TrainableError
from overtone.worker.normalise import is_number, merged, normalise


def test_numpy_becomes_python() -> None:
    given = {
        "a": np.float32(0.5),
        "b": np.int64(3),
        "c": np.bool_(True),
        "d": np.array([1, 2]),
        "e": np.array(1.0),
    }
    plain = normalise(given, set())
    assert plain == {"a": 0.5, "b": 3, "c": True, "d": [1, 2], "e": 1.0}
    assert [type(value) for value in plain.values()] == [float, int, bool, list, float]


def test_a_numpy_nan_stays_a_nan() -> None:
    assert math.isnan(normalise({"a": np.float32("nan")}, set())["a"])


def test_containers_are_walked_and_keys_become_text() -> None:
    assert normalise({"a": {1: (np.int8(1), {"b": None})}}, set()) == {"a": {"1": [1, {"b": None}]}}


def test_what_is_not_data_becomes_its_repr_with_one_warning() -> None:
    warned: set[str] = set()
    with pytest.warns(UserWarning, match="'a' is a object"):
        first = normalise({"a": object()}, warned)
    assert first["a"].startswith("<object object")
    normalise({"a": object()}, warned)  # a second warning would be an error here


def test_a_long_repr_is_cut() -> None:
    with pytest.warns(UserWarning, match="not plain data"):
        assert len(normalise({"a": {*range(1000)}}, set())["a"]) == 500


def test_a_repr_that_raises_does_no_harm() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.warns(UserWarning, match="Odd"):
        assert "whose repr raised RuntimeError" in normalise({"a": Odd()}, set())["a"]


def test_a_cycle_ends() -> None:
    circle: dict[str, object] = {}
    circle["self"] = circle
    with pytest.warns(UserWarning, match="not plain data"):
        normalise(circle, set())


def test_the_forms_of_report() -> None:
    assert merged({"a": 1}, None, {}) == {"a": 1}
    assert merged({"a": 1}, None, {"b": 2}) == {"a": 1, "b": 2}
    assert merged(None, None, {"a": 1}) == {"a": 1}
    assert merged(5, None, {}) == {"_metric": 5}
    assert merged(np.float32(5), None, {"a": 1}) == {"_metric": 5, "a": 1}
    assert merged(None, 3, {"a": 1}) == {"_metric": 3, "a": 1}
    assert merged(None, None, {"metrics": {"a": 1}, "checkpoint_dir_name": None}) == {"a": 1}
    assert merged(None, None, {"metrics": 4}) == {"metrics": 4}


def test_report_does_not_keep_the_users_dict() -> None:
    given = {"a": 1}
    assert merged(given, None, {}) is not given


def test_what_report_cannot_take() -> None:
    with pytest.raises(TrainableError, match=r"not str 'accuracy'.*report\(accuracy=0.9\)"):
        merged("accuracy", None, {})


@pytest.mark.parametrize("value", [1, 0.5, np.float32(1), np.array(1.0)])
def test_numbers(value: object) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", ["1", [1], None, np.ones(2)])
def test_no_numbers(value: object) -> None:
    assert not is_number(value)
