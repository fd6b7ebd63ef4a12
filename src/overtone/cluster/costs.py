"""The cost of a cluster so far, from the machines that this machine has seen."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.prices import Interval, cost, dollars_text, price_of
from overtone.cluster.resource import Resource
from overtone.cluster.state import State

MACHINES = ("instance", "host", "Pod", "job")
"""The kinds of resources that are billed by their time."""

FREE = "none"
"""The cost of machines that the provider does not sell."""


def note_machines(config: ClusterConfig, state: State, resources: Iterable[Resource]) -> None:
    """Record which machines exist now, and which have ended since. Call it while the lock is held."""
    now = time.time()
    known: dict[str, dict[str, Any]] = dict(state.info().get("machines") or {})
    seen = {one.id: one for one in resources if one.kind in MACHINES and one.since is not None}
    for name, one in seen.items():
        price = price_of(config, one.node_type, one.spot, now=one.dollars)
        begun = known.get(name, {})
        if begun.get("until") is not None:  # another life of the same host
            known[f"{name} {begun['since']:.0f}"] = begun
            begun = {}
        known[name] = {
            "since": begun.get("since", one.since),
            "until": None,
            "dollars": None if price is None else price.dollars,
        }
    for name, machine in known.items():
        if name not in seen and machine["until"] is None:
            machine["until"] = now
    state.update(machines=known)


def cost_so_far(info: Mapping[str, Any], now: float | None = None) -> float | None:
    """Return the cost in US dollars of a cluster by its `cluster.json`; None if no price is known."""
    machines = (info.get("machines") or {}).values()
    priced = [
        Interval(since=one["since"], until=one["until"], dollars=one["dollars"])
        for one in machines
        if one["dollars"] is not None
    ]
    return cost(priced, time.time() if now is None else now) if priced else None


def cost_text(info: Mapping[str, Any]) -> str:
    """Return the cost so far as people write it: "$1.20", or `FREE` for hosts without a price."""
    dollars = cost_so_far(info)
    if dollars is not None:
        return dollars_text(dollars)
    return "unknown cost" if info.get("has_prices", True) else FREE
