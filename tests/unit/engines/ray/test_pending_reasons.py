"""What is said of trials that wait, and when patience ends."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray.pending_reasons import Shortage
from overtone.errors import ResourceError

CPU = Resources.of({"cpu": 2})
GPU = Resources.of({"cpu": 1, "gpu": 1})


def short(
    nodes: Mapping[str, Mapping[str, float]],
    left: Mapping[str, Mapping[str, float]] | None = None,
    patience_s: float | None = None,
    **most: float,
) -> Shortage:
    made = Shortage(most, patience_s)
    made.look(nodes, nodes if left is None else left)
    return made


def test_what_only_waits_for_its_turn_is_no_shortage() -> None:
    shortage = short({"a": {"cpu": 4.0}})
    shortage.want(CPU, 64)
    assert shortage.status() == ""
    assert shortage.news() == []


def test_what_no_node_has_is_told_once_and_shown_until_it_comes() -> None:
    shortage = short({"a": {"cpu": 4.0}})
    shortage.want(GPU, 2)
    shortage.want(CPU, 1)
    assert shortage.news() == ["trials wait for cpu 1, gpu 1: no node has that now"]
    shortage.want(GPU, 1)
    assert shortage.news() == []
    assert shortage.status() == "waiting for cpu 1, gpu 1: no node has that now"
    both = {"a": {"cpu": 4.0}, "b": {"cpu": 1.0, "gpu": 1.0}}
    shortage.look(both, both)
    assert shortage.status() == ""
    shortage.look({"a": {"cpu": 4.0}}, {"a": {"cpu": 4.0}})  # the node with the GPU dies
    assert shortage.news() == ["trials wait for cpu 1, gpu 1: no node has that now"]


def test_a_gang_needs_its_bundles_at_once() -> None:
    gang = Resources.of([{"cpu": 1}, {"cpu": 1}, {"cpu": 1}], "STRICT_SPREAD")
    shortage = short({"a": {"cpu": 8.0}, "b": {"cpu": 8.0}})
    shortage.want(gang, 1)
    assert shortage.status() == "waiting for 3 x (cpu 1): no nodes have that now"


def test_what_others_hold_is_shown_and_not_told() -> None:
    shortage = short({"a": {"cpu": 4.0}}, {"a": {"cpu": 1.0}})
    shortage.want(CPU, 1)
    assert shortage.status() == "waiting: others hold it"
    assert shortage.news() == []


def test_what_the_run_may_not_use_is_named() -> None:
    shortage = short({"a": {"cpu": 4.0, "gpu": 4.0}}, {"a": {"cpu": 4.0, "gpu": 0.5}}, gpu=0.5)
    shortage.want(GPU, 1)
    assert shortage.news() == ["trials wait for cpu 1, gpu 1: max_resources allows no more than gpu 0.5"]


def test_patience_ends_where_nothing_runs_and_nothing_can() -> None:
    shortage = short({"a": {"cpu": 4.0}}, patience_s=60)
    shortage.want(GPU, 1)
    shortage.check(10.0, runs=False)
    shortage.check(69.0, runs=False)
    with pytest.raises(ResourceError, match="waiting for cpu 1, gpu 1: no node has that now, for 60 s"):
        shortage.check(70.0, runs=False)


def test_patience_begins_again_when_something_runs_or_can() -> None:
    shortage = short({"a": {"cpu": 4.0}}, patience_s=60)
    shortage.want(GPU, 1)
    shortage.check(10.0, runs=False)
    shortage.check(60.0, runs=True)
    shortage.check(75.0, runs=False)
    shortage.want(CPU, 1)
    shortage.check(500.0, runs=False)
    shortage.want(CPU, 0)
    shortage.check(501.0, runs=False)


def test_some_wait_for_ever() -> None:
    shortage = short({"a": {"cpu": 4.0}})
    shortage.want(GPU, 1)
    shortage.check(0.0, runs=False)
    shortage.check(1e9, runs=False)
