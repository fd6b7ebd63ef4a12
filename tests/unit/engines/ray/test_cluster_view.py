"""What a run may use of nodes that others use too."""

from __future__ import annotations

from overtone.engines.ray.cluster_view import amounts, capped


def test_amounts_go_by_our_names_and_leave_out_what_stands_for_nodes_and_groups() -> None:
    found = amounts(
        {"CPU": 4, "GPU": 1, "license": 2, "node:10.0.0.1": 1, "CPU_group_0_ab": 1, "bundle_group_ab": 9}
    )
    assert found == {"cpu": 4.0, "gpu": 1.0, "license": 2.0}


def test_a_cap_holds_for_all_nodes_in_sum() -> None:
    nodes = {"a": {"cpu": 8.0, "gpu": 4.0}, "b": {"cpu": 8.0, "gpu": 4.0}}
    assert capped(nodes, {"gpu": 5.0}) == {"a": {"cpu": 8.0, "gpu": 4.0}, "b": {"cpu": 8.0, "gpu": 1.0}}
