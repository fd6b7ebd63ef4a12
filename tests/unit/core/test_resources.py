"""Demands as people write them."""

import pytest

from overtone.core.resources import Placement, Resources, bundle, format_amount, parse_bytes
from overtone.errors import ResourceError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2e9), ("512MiB", 2**29), ("1.5g", 1.5e9), (" 10 KB ", 1e4), ("7", 7.0), (3, 3.0),
        ("1TiB", 2**40), ("100b", 100.0),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "2 GB GB", "-1GB", "two"])
def test_what_is_no_size(text):
    with pytest.raises(ResourceError, match="a size must look like"):
        parse_bytes(text)


def test_a_bundle_is_sorted_and_without_zeros():
    assert bundle({"gpu": 0, "CPU": 2, "custom": 1.5, "memory": "1KB", "none": None}) == (
        ("cpu", 2.0), ("custom", 1.5), ("memory", 1000.0)
    )  # fmt: skip
    assert bundle({}) == ()
    assert bundle({"cpu": 1, "CPU": 2}) == (("cpu", 3.0),)


@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        ({"cpu": -1}, "cpu=-1: an amount must be 0 or more"),
        ({"cpu": float("nan")}, "must be 0 or more, and finite"),
        ({"cpu": float("inf")}, "must be 0 or more, and finite"),
        ({"cpu": "many"}, "cpu='many' is not an amount"),
        ({"cpu": [1]}, "is not an amount"),
        ({"gpu": 1.5}, "above one GPU, only whole ones"),
        ({"memory": "lots"}, "a size must look like"),
    ],
)
def test_what_is_no_amount(amounts, message):
    with pytest.raises(ResourceError, match=message):
        bundle(amounts)


def test_of_one_and_of_several():
    assert Resources.of({"cpu": 1}) == Resources(((("cpu", 1.0),),))
    pair = Resources.of([{"cpu": 1}, {"gpu": 1}], "SPREAD")
    assert pair.bundles == ((("cpu", 1.0),), (("gpu", 1.0),))
    assert pair.strategy == "SPREAD"


def test_equal_demands_are_equal_and_hash_equal():
    assert hash(Resources.of({"cpu": 1, "gpu": 0})) == hash(Resources.of({"CPU": 1.0}))


@pytest.mark.parametrize("given", [[], [3], "cpu"])
def test_what_is_no_demand(given):
    with pytest.raises(ResourceError, match="resources must look like"):
        Resources.of(given)


def test_a_strategy_that_is_none():
    with pytest.raises(ResourceError, match="choose one of PACK, SPREAD, STRICT_PACK, STRICT_SPREAD"):
        Resources.of({"cpu": 1}, "TIGHT")


def test_totals_and_words():
    demand = Resources.of([{}, {"cpu": 1, "gpu": 0.5}, {"cpu": 2, "memory": "2GiB"}])
    assert demand.total() == {"cpu": 3.0, "gpu": 0.5, "memory": 2.0**31}
    assert str(demand) == "nothing + cpu 1, gpu 0.5 + cpu 2, memory 2.00 GiB"
    assert format_amount("cpu", 2.0) == "2"


def test_placements_compare():
    assert Placement(("a",), ((),)) == Placement(("a",), ((),)) != Placement(("b",), ((),))
