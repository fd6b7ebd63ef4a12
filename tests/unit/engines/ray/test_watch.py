"""What a run may use of nodes that others use too."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.engines.ray.watch import SAMPLES, NodeFacts, Others, amounts, capped


def node(total: Mapping[str, float], free: Mapping[str, float]) -> NodeFacts:
    return NodeFacts("n", "10.0.0.1", "host", total, free, {})


def test_amounts_go_by_our_names_and_leave_out_what_stands_for_nodes_and_groups() -> None:
    found = amounts(
        {"CPU": 4, "GPU": 1, "license": 2, "node:10.0.0.1": 1, "CPU_group_0_ab": 1, "bundle_group_ab": 9}
    )
    assert found == {"cpu": 4.0, "gpu": 1.0, "license": 2.0}


def test_what_others_hold_is_left_out_once_it_was_seen_often() -> None:
    others = Others()
    busy = node({"cpu": 4.0}, {"cpu": 1.0})
    looks = [others.left(busy, {"cpu": 2.0})["cpu"] for _ in range(SAMPLES)]
    assert looks == [4.0] * (SAMPLES - 1) + [3.0]


def test_figures_that_lag_behind_for_a_moment_change_nothing() -> None:
    others = Others()
    steady = node({"cpu": 4.0}, {"cpu": 2.0})
    for _ in range(2 * SAMPLES):
        others.left(steady, {"cpu": 2.0})
    assert others.left(steady, {}) == {"cpu": 4.0}


def test_memory_for_objects_is_what_there_is() -> None:
    others = Others()
    full = node({"object_store_memory": 100.0}, {})
    assert [others.left(full, {}) for _ in range(9)][-1] == {"object_store_memory": 100.0}


def test_a_cap_holds_for_all_nodes_in_sum() -> None:
    nodes = {"a": {"cpu": 8.0, "gpu": 4.0}, "b": {"cpu": 8.0, "gpu": 4.0}}
    assert capped(nodes, {"gpu": 5.0}) == {"a": {"cpu": 8.0, "gpu": 4.0}, "b": {"cpu": 8.0, "gpu": 1.0}}
