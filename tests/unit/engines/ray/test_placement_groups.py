"""Groups are left alone while Ray makes them."""

from __future__ import annotations

import importlib

import pytest

from overtone.engines.ray import placement_groups


@pytest.mark.parametrize(
    ("state", "may_be"),
    [
        ("QUEUED", False),
        ("SCHEDULING_STARTED", False),
        ("NO_RESOURCES", True),
        ("INFEASIBLE", True),
        ("FINISHED", True),
        (None, True),
    ],
)
def test_a_group_that_ray_is_making_may_not_be_removed(
    monkeypatch: pytest.MonkeyPatch, state: str | None, may_be: bool
) -> None:
    pytest.importorskip("ray")
    module = importlib.import_module("ray.util.placement_group")  # not the function of that name
    table = {"stats": {"scheduling_state": state}} if state else {}
    monkeypatch.setattr(placement_groups.cluster_connection, "is_connected", lambda: True)
    monkeypatch.setattr(module, "placement_group_table", lambda group: table)
    assert placement_groups.may_be_removed("group") is may_be


@pytest.mark.parametrize(("table", "is_made"), [({"state": "CREATED"}, True), ({"state": "PENDING"}, False), ({}, False)])
def test_a_group_is_made_once_the_head_says_so(
    monkeypatch: pytest.MonkeyPatch, table: dict[str, str], is_made: bool
) -> None:
    pytest.importorskip("ray")
    module = importlib.import_module("ray.util.placement_group")
    monkeypatch.setattr(module, "placement_group_table", lambda group: table)
    assert placement_groups.is_made("group") is is_made


@pytest.mark.parametrize(("state", "may_be"), [("INFEASIBLE", False), ("NO_RESOURCES", False), ("FINISHED", True)])
def test_no_pending_group_is_removed_just_after_a_node_has_joined(
    monkeypatch: pytest.MonkeyPatch, state: str, may_be: bool
) -> None:
    pytest.importorskip("ray")
    module = importlib.import_module("ray.util.placement_group")
    table = {"stats": {"scheduling_state": state}}
    monkeypatch.setattr(placement_groups.cluster_connection, "is_connected", lambda: True)
    monkeypatch.setattr(module, "placement_group_table", lambda group: table)
    assert placement_groups.may_be_removed("group", is_settled=False) is may_be


def test_without_a_cluster_there_is_nothing_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(placement_groups.cluster_connection, "is_connected", lambda: False)
    assert placement_groups.may_be_removed("group")
