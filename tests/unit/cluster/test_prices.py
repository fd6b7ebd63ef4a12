"""Prices of machines, and what they cost over time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from overtone.cluster.config import ClusterConfig, Provider
from overtone.cluster.prices import Interval, cost, dollars_text, overrides, price_of, table
from overtone.errors import ArgumentError

HOUR = 3600.0


def config(kind="aws", **settings):
    return ClusterConfig("lab", Provider(kind, settings), source=Path("c.yaml"))


def interval(since, until, dollars):
    return Interval(since=since, until=until, dollars=dollars)


def test_the_table_has_its_date_and_its_regions():
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", table()["date"])
    assert (table()["aws"]["region"], table()["gcp"]["region"]) == ("us-east-1", "us-central1")
    types = [*table()["aws"]["types"].items(), *table()["gcp"]["types"].items()]
    assert all(0.01 < price < 40 for _, price in types)
    assert len(types) >= 60


def test_sizes_of_a_family_cost_in_proportion():
    types = table()["aws"]["types"]
    for family in ("m5", "m6i", "c5", "r5"):
        assert types[f"{family}.4xlarge"] == pytest.approx(8 * types[f"{family}.large"])


def test_a_price_of_the_users_comes_before_the_configs_and_that_before_the_table():
    assert price_of(config(), "g5.xlarge").dollars == 1.006
    assert price_of(config(price=3.0), "g5.xlarge").dollars == 3.0
    own = overrides(["g5.xlarge=2", "1"])
    assert price_of(config(price=3.0), "g5.xlarge", own=own).dollars == 2
    assert price_of(config(price=3.0), "m5.large", own=own).dollars == 1
    assert price_of(config("local"), None, own={"": 1.5}).dollars == 1.5


def test_a_spot_price_is_a_bound_unless_it_is_the_users():
    assert price_of(config(), "g5.xlarge", spot=True).is_bound
    assert not price_of(config(), "g5.xlarge", spot=True, own={"": 0.4}).is_bound


def test_the_providers_present_price_comes_before_the_tables_and_after_the_users():
    assert price_of(config(), "g5.xlarge", spot=True, now=0.41).dollars == 0.41
    assert price_of(config(), "g5.xlarge", spot=True, own={"": 0.4}, now=0.41).dollars == 0.4


def test_an_unknown_price_is_none():
    assert price_of(config(), "z9.huge") is None
    assert price_of(config("slurm"), None) is None
    assert price_of(config("gcp"), "g5.xlarge") is None


@pytest.mark.parametrize("text", ["", "cheap", "g5.xlarge=", "-1", "inf", "nan", "g5.xlarge"])
def test_a_wrong_price_option_is_an_error(text):
    with pytest.raises(ArgumentError, match=r"--price=.*such as 1\.2, or with a machine type"):
        overrides([text])


def test_cost_is_the_sum_over_machines_up_to_now():
    nodes = [interval(0, None, 1.0), interval(HOUR, 3 * HOUR, 2.0), interval(2 * HOUR, None, 4.0)]
    assert cost(nodes, 2 * HOUR) == pytest.approx(2 * 1 + 1 * 2)
    assert cost(nodes, 4 * HOUR) == pytest.approx(4 * 1 + 2 * 2 + 2 * 4)
    assert cost([], 5.0) == 0
    assert cost([interval(10, None, 1.0)], 5.0) == 0


def test_each_machine_is_billed_for_a_minute_at_least():
    assert cost([interval(0, 1, 3600.0)], 100.0) == pytest.approx(60.0)
    assert cost([interval(50, 10, 3600.0)], 100.0) == pytest.approx(60.0)


def test_machines_of_unknown_price_count_as_nothing():
    assert cost([interval(0, None, None), interval(0, HOUR, 1.0)], HOUR) == pytest.approx(1.0)


def test_cost_never_falls_with_time():
    nodes = [interval(0, 700, 1.0), interval(600, None, 0.3), interval(650, 655, 9.0)]
    costs = [cost(nodes, now) for now in range(0, 2000, 7)]
    assert costs == sorted(costs)


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0"),
        (0.096, "$0.096"),
        (0.5, "$0.5"),
        (1.006, "$1.01"),
        (12, "$12"),
        (99.9, "$100"),
        (1234.5, "$1,234"),
    ],
)
def test_amounts(dollars, text):
    assert dollars_text(dollars) == text
