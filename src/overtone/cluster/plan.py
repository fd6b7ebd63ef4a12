"""Plans: from a config and what exists to steps, with their prices. Pure: reads and changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from overtone.cluster.config import ClusterConfig
from overtone.cluster.prices import Price, price_of
from overtone.cluster.provider import Resource
from overtone.cluster.provider_modules import about
from overtone.cluster.steps import Action, Step

Command = Literal["up", "submit", "down"]

_NO_PRICE = Price(0.0, "")
"""The price of a node that the provider does not sell by its type."""


@dataclass(frozen=True)
class Plan:
    """The effect of a command before it runs.

    Attributes:
        config: The cluster's config.
        command: "up", "submit" or "down".
        steps: The steps in their order.
        existing: What exists already; None if it is unknown.
        least, most: US dollars an hour with the fewest and with the most nodes; None if a price is unknown.
        most_in_all: US dollars until a limit ends the cluster; None if no limit does, or a price is unknown.
        unknown: The machine types whose prices are unknown.
        sources: Where the prices are from.
        left: What would be left after `overtone down`.
    """

    config: ClusterConfig
    command: Command
    steps: tuple[Step, ...]
    existing: tuple[Resource, ...] | None
    least: float | None
    most: float | None
    most_in_all: float | None
    unknown: tuple[str, ...]
    sources: tuple[str, ...]
    left: str


def make_plan(
    config: ClusterConfig,
    command: Command = "up",
    existing: Sequence[Resource] | None = (),
    own_prices: Mapping[str, float] | None = None,
) -> Plan:
    """Return the steps of a command, with their prices.

    Args:
        config: The cluster's config.
        command: The command to plan.
        existing: What exists of the cluster; None if it is unknown.
        own_prices: Prices by machine type that come before the table's: `prices.overrides`.
    """
    head = price_of(config, config.head, False, own_prices)
    workers = price_of(config, config.workers.type, config.workers.spot, own_prices)
    facts = about(config.provider.type)
    if not facts.has_prices:
        head, workers = head or _NO_PRICE, workers or _NO_PRICE
    used = [(config.head, head), (config.workers.type, workers)][: 2 if config.workers.max else 1]
    unknown = tuple(dict.fromkeys(name or "the default type" for name, price in used if price is None))
    least = most = None
    if not unknown and head:
        least = head.dollars + (workers.dollars * config.workers.min if workers else 0.0)
        most = head.dollars + (workers.dollars * config.workers.max if workers else 0.0)
    return Plan(
        config=config,
        command=command,
        steps=tuple(_steps(config, command, existing, head, workers)),
        existing=None if existing is None else tuple(existing),
        least=least,
        most=most,
        most_in_all=_most_in_all(config, most),
        unknown=unknown,
        sources=tuple(dict.fromkeys(price.source for _, price in used if price and price.dollars)),
        left=facts.left.replace("{name}", config.name),
    )


def _most_in_all(config: ClusterConfig, most: float | None) -> float | None:
    limits = config.limits
    if about(config.provider.type).costs_on:
        return None
    by_time = None if most is None or limits.hours is None else most * limits.hours
    bounds = [bound for bound in (by_time, limits.price) if bound is not None]
    return min(bounds) if bounds and most is not None else None


def _steps(
    config: ClusterConfig,
    command: Command,
    existing: Sequence[Resource] | None,
    head: Price | None,
    workers: Price | None,
) -> Iterable[Step]:
    action: Action = "stop" if command == "down" else "keep"
    for kind, count in count_kinds(existing or ()).items():
        yield Step(action, kind, "", count, count)
    if command == "down":
        return
    yield _start("head", _type_text(config, config.head, False), 1, 1, head)
    if config.workers.max:
        detail = _type_text(config, config.workers.type, config.workers.spot)
        yield _start("worker", detail, config.workers.min, config.workers.max, workers)
    for one in config.setup:
        yield Step("run", f"setup: {one}")
    if command == "submit":
        yield Step("run", f"upload of {config.files or 'the script'} to ~/overtone_work/{config.name}")
        yield Step("run", "the script on the head; results come back every 30 s and at the end")
        yield Step("stop", "the machines that the command started itself")


def _start(what: str, detail: str, least: int, most: int, price: Price | None) -> Step:
    dollars, is_bound = (price.dollars, price.is_bound) if price else (None, False)
    return Step("start", what, detail, least, most, dollars, is_bound)


def _type_text(config: ClusterConfig, name: str | None, is_spot: bool) -> str:
    if about(config.provider.type).has_prices:
        return f"{name or 'default type'}, {'spot' if is_spot else 'on demand'}"
    return name or ""


def count_kinds(resources: Iterable[Resource]) -> dict[str, int]:
    """Return how many resources there are of each kind, without hosts that did not answer."""
    return dict(Counter(one.kind for one in resources if not one.is_unknown))
