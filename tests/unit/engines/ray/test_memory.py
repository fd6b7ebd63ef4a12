"""What Ray does when a node runs short of memory, as its settings and its errors say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone.engines.ray import memory
from overtone.worker.limits.node_memory import NodeMemory


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cluster was started with."""
    settings: dict[str, Any] = {}
    monkeypatch.setattr(memory, "_of_cluster", lambda: settings)
    monkeypatch.setattr(memory, "memory_reader", lambda: lambda: NodeMemory(1, 100))
    return settings


@pytest.mark.parametrize(
    ("environment", "share"),
    [
        ({}, 0.95),
        ({"RAY_memory_usage_threshold": "0.4"}, 0.4),
        ({"RAY_min_memory_free_bytes": "2"}, 0.98),
        ({"RAY_min_memory_free_bytes": "20"}, 0.95),
        ({"RAY_min_memory_free_bytes": "-1"}, 0.95),
        ({"RAY_memory_monitor_refresh_ms": "0"}, None),
        ({"RAY_memory_usage_threshold": "much"}, 0.95),
        ({"RAY_memory_usage_threshold": "7"}, 1.0),
    ],
)
def test_where_ray_begins_to_end_workers(environment: dict[str, str], share: float | None) -> None:
    assert memory.share(environment) == share


def test_a_node_overrules_its_cluster(cluster: dict[str, Any]) -> None:
    cluster.update({"memory_usage_threshold": 0.5, "health_check_period_ms": 500})
    assert memory.share({}) == 0.5
    assert memory.share({"RAY_memory_usage_threshold": "0.6"}) == 0.6
    cluster["memory_monitor_refresh_ms"] = 0
    assert memory.share({}) is None


def test_the_agent_is_spared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    score = tmp_path / "oom_score_adj"
    monkeypatch.setattr(memory, "_OWN_SCORE", score)
    memory.spare_this_process.cache_clear()
    score.write_text("1000\n")
    memory.spare_this_process()
    memory.spare_this_process()
    assert score.read_text() == "500"
    memory.spare_this_process.cache_clear()
    monkeypatch.setattr(memory, "_OWN_SCORE", tmp_path / "no such file")
    memory.spare_this_process()
    memory.spare_this_process.cache_clear()


def test_a_worker_that_ray_ended_for_memory() -> None:
    assert memory.is_shortage(
        "OutOfMemoryError: 1 worker(s) were killed due to the node running low on memory."
    )
    assert not memory.is_shortage("ActorDiedError: The actor died unexpectedly before finishing this task.")
