"""Hydra's grammar."""

import pytest

from overtone.errors import ArgumentError
from overtone.program.hydra_values import override, plain, quoted, swept
from overtone.space import dsl


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"), (1e-05, "1e-05"), (True, "true"), (None, "null"), ("adam", "adam"), ("a b", "'a b'"),
        ("true", "'true'"), ("", "''"), ("it's", r"'it\'s'"), ("a\\", "'a\\\\'"), ([1, "x"], "[1,x]"),
        ({"a": 1}, "{a:1}"), ("1", "'1'"), ("/tmp/x-1.y", "/tmp/x-1.y"), ("${x}", "'${x}'"),
    ],
)  # fmt: skip
def test_values(value, text):
    assert quoted(value) == text
    assert override("+a.b", value) == f"+a.b={text}"


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("interval(0.1, 1)", dsl.uniform(0.1, 1.0)),
        ("tag(log, interval(0.001, 1))", dsl.loguniform(0.001, 1.0)),
        ("int(interval(1, 5))", dsl.randint(1, 6)),
        ("choice(1, 'a,b', c)", dsl.choice([1, "a,b", "c"])),
        ("range(1, 4)", dsl.choice([1, 2, 3])),
        ("range(3)", dsl.choice([0, 1, 2])),
        ("range(0, 1, 0.5)", dsl.choice([0.0, 0.5])),
        ("sgd,adam", dsl.choice(["sgd", "adam"])),
        ("[1,2]", None),
        ("0.1", None),
        ("'a,b'", None),
        ("hello(1,2)", None),
    ],
)
def test_sweeps(text, domain):
    assert repr(swept(text)) == repr(domain)


@pytest.mark.parametrize("text", ["interval(1)", "range(1,2,0)", "interval(a,b)", "range()"])
def test_what_only_looks_like_a_sweep_is_refused(text):
    with pytest.raises(ArgumentError, match="is not a sweep"):
        swept(text)


def test_plain_values():
    assert [plain(one) for one in ("null", "True", " 3", "[1, a]", "'x'")] == [None, True, 3, [1, "a"], "x"]
