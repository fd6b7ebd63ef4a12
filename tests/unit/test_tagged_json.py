from __future__ import annotations

import json
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan, nan
from pathlib import Path, PurePosixPath
from uuid import UUID

import pytest

from overtone.journal.text import LazyMetrics, dumps, loads
from overtone.tagged_json import MARK, is_tagged, tagged, untagged
from overtone.worker.protocol import decode, encode
from overtone.worker.session.metrics import normalise

WEST = timezone(timedelta(hours=-5, minutes=-30, seconds=7))
VALUES = [
    datetime(2026, 11, 23, 1, 2, 3),
    datetime(2026, 11, 23, 1, 2, 3, 456789, tzinfo=WEST),
    datetime(1, 1, 1, tzinfo=timezone.utc),
    Decimal("1.10"),
    Decimal("-Infinity"),
    Decimal("1E+400"),
    Decimal("NaN"),
    UUID("12345678-1234-5678-1234-567812345678"),
    Path("/data/ä b.csv"),
    Path(),
    inf,
    -inf,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_as_it_was(value):
    nested = {"top": value, "inner": {"list": [1, value, (value,)]}, "nan": nan}
    for again in (decode(encode(nested)), loads(dumps(nested)), dict(LazyMetrics(dumps(nested).encode()))):
        for one in (again["top"], *again["inner"]["list"][1:2], again["inner"]["list"][2][0]):
            assert type(one) is type(value)
            assert str(one) == str(value)
        assert isnan(again["nan"])
    assert MARK in encode(nested)
    json.loads(encode(nested), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "value", [1.5, 3, True, None, "x", date(2026, 1, 2), timedelta(1), Fraction(1, 3), 1j, PurePosixPath("x")]
)
def test_other_values_have_no_tag(value):
    assert tagged(value) is None


class Odd(datetime):
    def isoformat(self, *_):
        raise RuntimeError("odd")


class Lying(Decimal):
    def __str__(self):
        return "x"


def test_an_object_that_would_not_come_back_has_no_tag_and_becomes_text():
    for value in (Odd(2026, 1, 2), Lying(1)):
        assert tagged(value) is None
        with pytest.raises(TypeError):
            encode({"a": value})
        with pytest.warns(UserWarning, match="not plain data"):
            assert type(normalise({"a": value}, set())["a"]) is str


def test_a_subclass_comes_back_as_the_class_itself():
    class Own(datetime):
        pass

    plain = normalise({"a": Own(2026, 1, 2), "b": [Path("x")]}, set())
    assert type(plain["a"]) is datetime
    assert plain == {"a": datetime(2026, 1, 2), "b": [Path("x")]}


def test_pandas_has_a_time_that_is_none():
    pd = pytest.importorskip("pandas")
    assert tagged(pd.NaT) is None
    assert untagged(tagged(pd.Timestamp("2026-01-02"))) == datetime(2026, 1, 2)
    assert tagged(pd.Timestamp(1, unit="ns")) is None  # a datetime has microseconds


@pytest.mark.parametrize(
    "found",
    [
        {"__datetime__": "yesterday"},
        {"__datetime__": 5},
        {"__decimal__": "ten"},
        {"__uuid__": "1"},
        {"__float__": "big"},
        {"__class__": "os.system"},
        {"__path__": "a", "more": 1},
        {},
    ],
)
def test_an_object_that_only_looks_like_a_tag_stays_an_object(found):
    assert untagged(found) == found
    assert decode(json.dumps({"a": found}, separators=(",", ":"))) == {"a": found}


def test_classes_have_tags_by_inheritance():
    assert is_tagged(datetime)
    assert is_tagged(type(Path()))
    assert not any(map(is_tagged, (date, float, str, dict, object)))


def test_modules_are_not_imported_for_ordinary_values():
    code = (
        "import sys; from overtone.tagged_json import tagged, untagged; tagged(object()); untagged({'a': 1});"
        "untagged({'__float__': 'nan'}); print([m for m in ('decimal', 'uuid', 'datetime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")})  # fmt: skip
    assert done.stdout.strip() == "[]"
