"""Prices of machine types, from a table in the package. The price on demand bounds that of spot machines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.errors import ArgumentError

LEAST_BILLED_S = 60.0
"""EC2 and Compute Engine bill each machine for this long at least."""

ANY = ""
"""The machine type of an override that counts for all types."""


@dataclass(frozen=True)
class Price:
    """The price of one machine.

    Attributes:
        dollars: US dollars an hour.
        source: Where the price is from, such as "--price".
        is_bound: Whether the machine costs this much at most, as a spot machine does.
    """

    dollars: float
    source: str
    is_bound: bool = False


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The time for which one machine is billed.

    Attributes:
        since: When the machine started, in seconds since 1970.
        until: When it ended; None if it still runs.
        dollars: US dollars an hour; None if the price is unknown.
    """

    since: float
    until: float | None
    dollars: float | None


def price_of(
    config: ClusterConfig,
    node_type: str | None,
    spot: bool = False,
    own: Mapping[str, float] | None = None,
    now: float | None = None,
) -> Price | None:
    """Return the price of a machine of the cluster; None if it is unknown.

    Args:
        config: The cluster's config: its provider, and `provider.price`.
        node_type: The machine type, such as "g5.xlarge"; None if the provider has no types.
        spot: Whether it is a spot machine: the price is an upper bound then, unless it is the user's own.
        own: Prices by machine type that come before all others: `overrides`.
        now: The present price of a spot machine by the provider's API, which comes before the table's.
    """
    own = own or {}
    for name in (node_type or ANY, ANY):
        if name in own:
            return Price(own[name], "--price")
    if "price" in config.provider.settings:
        return Price(config.provider.settings["price"], "provider.price")
    if now is not None:
        return Price(now, "the provider's API")
    rows = table().get(config.provider.type)
    if rows is None or node_type not in rows["types"]:
        return None
    source = f"{rows['region']}, {table()['date']}"
    return Price(rows["types"][node_type], source, spot)


def check_limit(config: ClusterConfig) -> None:
    """Check that the head can keep a limit of the price: the price of each of its machines is known.

    Raises:
        ConfigError: A price is unknown; the message names the line of the limit.
    """
    if config.limits.price is None:
        return
    machines = [config.head, *([config.workers.type] if config.workers.max else [])]
    unknown = [name or "a node" for name in machines if price_of(config, name) is None]
    if unknown:
        rule = f"the price of {', '.join(dict.fromkeys(unknown))} is unknown: write provider.price, the US "
        rule += "dollars of a node an hour, or use limits.hours"
        raise config.error("limits.price", rule, config.limits.price)


def overrides(texts: Sequence[str]) -> dict[str, float]:
    """Return the prices of `--price` options: "g5.xlarge=1.2", or "1.2" for all types.

    Raises:
        ArgumentError: A text is not a price.
    """
    prices = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            dollars = float(number)
        except ValueError:
            dollars = math.nan
        if not 0 <= dollars < math.inf:
            example = "US dollars an hour, such as 1.2, or with a machine type, g5.xlarge=1.2"
            raise ArgumentError(f"--price={text}: must be {example}")
        prices[name.strip()] = dollars
    return prices


def cost(intervals: Iterable[Interval], now: float) -> float:
    """Return the US dollars that machines have cost until `now`; those of unknown price count as 0.

    Each machine is billed by the second, and for 60 s at least. An interval that has not begun costs nothing,
    and one whose end is before its start, as after a change of the clock, the least time.
    """
    total = 0.0
    for interval in intervals:
        if interval.dollars is None or interval.since >= now:
            continue
        until = now if interval.until is None else min(interval.until, now)
        total += interval.dollars * max(until - interval.since, LEAST_BILLED_S) / 3600
    return total


@cache
def table() -> Mapping[str, Any]:
    """Return the table of prices."""
    text = (Path(__file__).parent / "prices.json").read_text("utf-8")
    rows: Mapping[str, Any] = json.loads(text)
    return rows


def dollars_text(dollars: float) -> str:
    """Return an amount as people write it: "$0.096", "$1.01", "$12"."""
    if dollars and dollars < 0.995:
        return f"${dollars:.3g}"
    return f"${dollars:,.2f}" if dollars < 99.5 and dollars != int(dollars) else f"${dollars:,.0f}"
