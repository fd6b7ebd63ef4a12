"""A node whose agent was lost gets no trials until an agent there answers again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from overtone.engines.ray import nodes as module
from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.nodes import Nodes
from overtone.engines.ray.state import MOST_FAILURES, Node

UNAVAILABLE = "ActorUnavailableError: The actor is temporarily unavailable: RpcError: rpc_code: 14"
DIED = "ActorDiedError: The actor died because its node has died."


class FakeFollower:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.capacity: Mapping[str, Mapping[str, float]] = {}
        self.silent: list[str] = []
        self.broken: list[tuple[str, bool]] = []
        self.noticed: list[tuple[str, float]] = []

    def on_capacity(self, capacity: Mapping[str, Mapping[str, float]]) -> None:
        self.capacity = capacity

    def on_agent(self, node: Node) -> None: ...

    def on_silence(self, node: Node, error: str) -> None:
        self.silent.append(node.name)

    def on_broken(self, node: Node, error: str, has_others: bool) -> None:
        self.broken.append((node.name, has_others))

    def on_notice(self, node: Node, left_s: float) -> None:
        self.noticed.append((node.name, left_s))

    def on_loss(self, node: Node, error: str) -> None: ...

    def is_needed(self, node: Node) -> bool:
        return True


class FakeLeases:
    """A run that holds nothing."""

    def drop_idle(self, before: float) -> bool:
        return False

    def idle_on(self, nodes: Any) -> list[Any]:
        return []


class FakeLine:
    """An agent's."""

    def close(self) -> None: ...


class Cluster:
    """Two nodes, "a" and "b", and the agents that were sent there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[str] = []
        self._ends: dict[str, Callable[[str], None]] = {}
        monkeypatch.setattr(module.agents, "send_agent", self._send)
        monkeypatch.setattr(module.agents, "on_end", self._ends.__setitem__)
        monkeypatch.setattr(module.agents, "end", lambda actor: None)
        self.follower = FakeFollower()
        none: Any = None
        leases: Any = FakeLeases()
        self.nodes = Nodes(
            self.follower, leases, "id-a", {}, {}, 5.0, lambda name: none, lambda call: call,
            lambda after_s, call: None,
        )  # fmt: skip
        self.look("a", "b")

    def look(self, *names: str, leaving: Mapping[str, float] | None = None) -> None:
        found = [
            NodeFacts(f"id-{one}", one, one, {"cpu": 1}, {"cpu": 1}, {}, (leaving or {}).get(one))
            for one in names
        ]
        self.nodes.look(found, lambda: {one.id: {"cpu": 1.0} for one in found})

    def _send(self, node: str, errand: Any) -> tuple[Any, Any]:
        self.sent.append(node)
        return object(), node

    def call(self, name: str) -> Node:
        line: Any = FakeLine()
        node = self.nodes.greet(line, name)
        assert node is not None
        return node

    def agent_ends(self, name: str, error: str) -> None:
        self._ends[f"id-{name}"](error)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster(monkeypatch)
    for name in ("a", "b"):
        node = made.nodes.get(f"id-{name}")
        assert node is not None
        made.nodes.send_agent(node)
        made.call(name)
    made.sent.clear()
    return made


def test_a_node_whose_agent_was_lost_gets_no_trials_until_another_has_called(cluster: Cluster) -> None:
    node = cluster.nodes.named()["b"]
    cluster.nodes.hung_up(node)
    assert set(cluster.follower.capacity) == {"a"}
    cluster.agent_ends("b", UNAVAILABLE)  # Ray has not noticed yet that the node is dead
    assert cluster.sent == ["id-b"]
    cluster.look("a", "b")
    assert set(cluster.follower.capacity) == {"a"}
    assert cluster.follower.silent == ["b"]
    cluster.call("b")
    assert set(cluster.follower.capacity) == {"a", "b"}


def test_agents_that_never_call_are_counted_and_then_the_node_is_not_used(cluster: Cluster) -> None:
    cluster.agent_ends("b", UNAVAILABLE)
    for _ in range(MOST_FAILURES - 1):
        assert cluster.follower.broken == []
        cluster.agent_ends("b", "RuntimeError: no such module")
    assert cluster.follower.broken == [("b", True)]
    assert len(cluster.sent) == MOST_FAILURES - 1


def test_a_node_that_may_answer_again_counts_as_another_one_that_can_be_used(cluster: Cluster) -> None:
    cluster.agent_ends("a", UNAVAILABLE)
    for _ in range(MOST_FAILURES):
        cluster.agent_ends("b", "RuntimeError: no such module")
    assert cluster.follower.broken == [("b", True)]
    assert cluster.nodes.total().keys() == {"a"}


def test_a_node_that_ray_gave_up_too_early_is_asked_again(cluster: Cluster) -> None:
    cluster.agent_ends("b", DIED)
    assert cluster.sent == []
    cluster.look("a", "b")
    assert cluster.sent == ["id-b"]
    cluster.call("b")
    assert set(cluster.follower.capacity) == {"a", "b"}


def test_a_node_that_is_drained_gets_no_trials_and_its_trials_are_told_once(cluster: Cluster) -> None:
    cluster.look("a", "b", leaving={"b": 30.0})
    cluster.look("a", "b", leaving={"b": 29.5})
    assert cluster.follower.noticed == [("b", 30.0)]
    assert set(cluster.follower.capacity) == {"a"}
    assert set(cluster.nodes.total()) == {"a"}


def test_an_agent_that_ends_on_a_drained_node_is_not_replaced(cluster: Cluster) -> None:
    cluster.look("a", "b", leaving={"b": 0.0})
    cluster.agent_ends("b", "killed")
    cluster.look("a", "b", leaving={"b": 0.0})
    assert cluster.sent == []


def test_a_node_whose_drain_is_over_is_used_again(cluster: Cluster) -> None:
    cluster.look("a", "b", leaving={"b": 30.0})
    cluster.look("a", "b")
    assert set(cluster.follower.capacity) == {"a", "b"}
