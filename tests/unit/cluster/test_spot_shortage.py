"""Shortages of spot machines."""

from __future__ import annotations

from overtone.cluster.spot_shortage import SpotShortage


def test_machines_on_demand_come_after_the_wait_and_until_spot_ones_are_back() -> None:
    now = [0.0]
    shortage = SpotShortage(600.0, lambda: now[0])
    assert not shortage.has_lasted("worker")
    now[0] = 599.0
    assert not shortage.has_lasted("worker")
    assert not shortage.has_lasted("other")
    now[0] = 600.0
    assert shortage.has_lasted("worker")
    assert not shortage.has_lasted("other")
    shortage.end("worker")
    assert not shortage.has_lasted("worker")
