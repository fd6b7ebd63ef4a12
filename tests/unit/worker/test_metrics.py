"""Metrics as plain data."""

from __future__ import annotations

import enum
import math
import sys
import warnings
from types import MappingProxyType

import numpy as np
import pytest

from overtone.errors import TrainableError
from overtone.worker.protocol import encode
from overtone.worker.session.metrics import is_number, is_readable, merged, normalise


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


class Hostile:
    """Raises whatever it is asked."""

    def __init__(self, error: type[Exception] = RuntimeError) -> None:
        vars(self)["error"] = error

    def _raise(self, *_: object) -> None:
        raise vars(self)["error"]("asked")

    __repr__ = __str__ = __float__ = __int__ = __iter__ = __len__ = __array__ = __eq__ = _raise
    __hash__ = object.__hash__
    __getattr__ = _raise


class HostileList(list):  # type: ignore[type-arg]
    __iter__ = Hostile._raise
    error = ValueError


class HostileDict(dict):  # type: ignore[type-arg]
    items = Hostile._raise
    error = ValueError


class Colour(enum.Enum):
    RED = 1


class Count(enum.IntEnum):
    ONE = 1


def test_half_of_a_surrogate_pair_is_spelled_out() -> None:
    given = {"\ud800": "a\udfff", "b": {"\ud800": ["\ud800"]}, "ok": "\U0001f600"}
    assert normalise(given, set()) == {
        "\\ud800": "a\\udfff",
        "b": {"\\ud800": ["\\ud800"]},
        "ok": "\U0001f600",
    }


@pytest.mark.parametrize(
    "value",
    [
        10**5000,
        -(10**4300),
        Hostile(),
        Hostile(AttributeError),
        HostileList([1]),
        HostileDict(a=1),
        b"bytes",
        {1, 2},
        1 + 2j,
        np.complex64(1j),
        np.datetime64("2026-01-01"),
        np.array(object(), dtype=object),
        Colour.RED,
        range(3),
        lambda: 0,
        type,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_data_is_kept_as_a_short_text_with_one_warning(value) -> None:
    warned: set[str] = set()
    with pytest.warns(UserWarning, match="'x' is a ") as caught:
        plain = normalise({"x": value, "y": 1}, warned)
    assert len(caught) == 1
    assert type(plain["x"]) is str
    assert 0 < len(plain["x"]) <= 500
    assert plain["y"] == 1
    encode(plain)
    normalise({"x": value}, warned)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (10**4299, 10**4299),
        (np.longdouble(0.5), 0.5),
        (np.float16(0.5), 0.5),
        (np.array(3, dtype=np.uint8), 3),
        (np.str_("x"), "x"),
        (np.array((1, 2.5), dtype=[("a", int), ("b", float)]), [1, 2.5]),
        (np.array(["\ud800"]), ["\\ud800"]),
        (Count.ONE, 1),
        (MappingProxyType({None: 1, 2.5: {True: "x"}}), {"None": 1, "2.5": {"True": "x"}}),
    ],
)
def test_what_is_a_number_or_a_text_stays_one(value, expected) -> None:
    plain = normalise({"x": value}, set())["x"]
    assert plain == expected
    assert type(plain) is type(expected)


def test_names_may_be_anything() -> None:
    plain = normalise({Hostile(): 1, None: 2, (1, 2): 3}, set())
    assert list(plain.values()) == [1, 2, 3]
    assert next(iter(plain)).startswith("<Hostile, whose str raised")


def test_a_list_that_holds_itself_twice_ends_soon() -> None:
    circle: list[object] = [1]
    circle += [circle, circle]
    with pytest.warns(UserWarning, match="not plain data"):
        assert normalise({"a": circle}, set())["a"][0] == 1


def test_a_very_deep_list_is_cut() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.warns(UserWarning, match="not plain data"):
        assert len(encode(normalise({"a": deep}, set()))) < 1000


def test_tensors_are_numbers_lists_or_texts() -> None:
    torch = pytest.importorskip("torch")
    plain = normalise(
        {
            "scalar": torch.tensor(0.5, dtype=torch.bfloat16, requires_grad=True),
            "vector": torch.tensor([1, 2]),
            "flag": torch.tensor(True),
        },
        set(),
    )
    assert plain == {"scalar": 0.5, "vector": [1, 2], "flag": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has its own about such tensors
        given = {
            "sparse": torch.tensor([[0.0, 1.0]]).to_sparse(),
            "sparse scalar": torch.sparse_coo_tensor(torch.zeros((0, 1)), torch.tensor([1.0]), ()),
            "meta": torch.empty((), device="meta"),
            "complex": torch.tensor(1j),
            "large": torch.zeros(2000),
        }
    with pytest.warns(UserWarning, match="not plain data") as caught:
        texts = normalise(given, set())
    assert sum("not plain data" in str(one.message) for one in caught) == 5
    assert {type(text) for text in texts.values()} == {str}


@pytest.mark.parametrize(
    ("value", "is_good"),
    [
        ([[1]] * 300, True),
        (["[{" * 500], True),
        ("\ud800", False),
        ("\U0001f600", False),
        ("\\ud800", False),  # a second look finds nothing to mend
    ],
)
def test_a_quick_look_tells_what_every_reader_takes(value, is_good) -> None:
    assert is_readable(encode({"x": value})) is is_good


def test_too_many_levels_are_not_for_every_reader() -> None:
    value: object = 1
    for _ in range(250):
        value = {"a": value}
    assert not is_readable(encode({"x": value}))


def test_a_lifted_limit_of_digits_is_that_of_this_process_alone() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert not is_readable(encode({"x": 10**5000}))
        with pytest.warns(UserWarning, match="is a int"):
            assert normalise({"x": 10**5000}, set())["x"].startswith("<an integer of 16610 bits, 0x")
    finally:
        sys.set_int_max_str_digits(limit)
