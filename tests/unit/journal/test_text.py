from __future__ import annotations

import json
import math

import numpy as np
import pytest

from overtone.core.utf8 import encodable
from overtone.errors import StorageError
from overtone.journal.text import LazyMetrics, dumps, loads


@pytest.mark.parametrize("value", [math.inf, -math.inf, {"a": [1, {"b": math.inf}]}, 1.5, "ü\n", None, True])
def test_round_trip(value) -> None:
    text = dumps(value)
    assert loads(text) == value
    assert "\n" not in text
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_nan_is_tagged() -> None:
    assert dumps({"loss": math.nan}) == '{"loss":{"__float__":"nan"}}'
    assert math.isnan(loads(dumps({"loss": math.nan}))["loss"])


def test_a_dict_that_only_looks_like_a_tag_stays() -> None:
    for value in ({"__float__": "1.5"}, {"__float__": "nan", "b": 1}):
        assert loads(dumps(value)) == value


def test_what_is_not_data_becomes_its_repr_cut() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "x" * 1000

    assert loads(dumps({"a": Odd()})) == {"a": {"__repr__": "x" * 500}}


def test_scalars_sets_tuples_and_keys() -> None:
    value = {"a": np.int64(3), "b": np.float32(0.5), "c": {2, 1}, "d": (1, 2)}
    assert loads(dumps(value)) == {"a": 3, "b": 0.5, "c": [1, 2], "d": [1, 2]}
    assert loads(dumps({(1, 2): math.nan}))["(1, 2)"] != 0


def test_lazy_metrics_are_decoded_when_looked_at() -> None:
    broken = LazyMetrics(b"no json")
    with pytest.raises(StorageError, match="Expecting"):
        broken["a"]
    metrics = LazyMetrics(b'{"a":1,"b":{"__float__":"inf"}}')
    assert metrics == {"a": 1, "b": math.inf}
    assert (len(metrics), list(metrics)) == (2, ["a", "b"])


def test_what_utf8_cannot_hold_is_spelled_out() -> None:
    assert encodable("plain") == "plain"
    assert encodable("h\u00e9 \U0001f600") == "h\u00e9 \U0001f600"
    assert encodable("a\ud800\u00e9") == "a\\ud800\u00e9"


def test_an_object_that_raises_when_it_is_asked_is_named() -> None:
    class Odd:
        shape = ()

        def item(self) -> float:
            raise RuntimeError

        def __repr__(self) -> str:
            raise ValueError

    assert loads(dumps({"x": Odd()})) == {"x": {"__repr__": "<Odd, whose repr raised ValueError>"}}


def test_an_integer_that_python_does_not_read_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match="is not data"):
        LazyMetrics(b'{"x":%b}' % (b"1" * 5000)).get("x")
