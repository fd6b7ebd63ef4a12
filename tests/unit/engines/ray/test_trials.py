"""Trials get their leases, whichever way these come."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from overtone.core.messages import Ended, Halt, Noticed, Start
from overtone.core.resources import Placement, Resources
from overtone.engines.loop import Loop
from overtone.engines.ray.cluster_view import NodeFacts
from overtone.engines.ray.lease import Lease
from overtone.engines.ray.state import Node
from overtone.engines.ray.trials import Trials
from overtone.errors import OvertoneError

CPU = Resources.of({"cpu": 1})


class FakeLeases:
    """Gives what a test says."""

    def __init__(self) -> None:
        self.given: list[tuple[Any, Lease]] = []
        self.asked: list[Any] = []
        self.forgotten: list[Any] = []
        self.idle: list[Lease] = []

    def take(self, shape: Resources, nodes: Any) -> None: ...

    def make_room(self, *of_whom: Any) -> None: ...

    def ask(self, owner: Any, shape: Resources, nodes: Any) -> None:
        self.asked.append(owner)

    def forget(self, owner: Any) -> None:
        self.forgotten.append(owner)

    def put_back(self, lease: Lease) -> bool:
        self.idle.append(lease)
        return True

    def use(self, lease: Lease) -> None:
        self.idle.remove(lease)

    def drop(self, lease: Lease) -> None: ...

    def refused(self) -> list[Any]:
        return []

    def granted(self) -> list[tuple[Any, Lease]]:
        given, self.given = self.given, []
        return given


class FakeNodes:
    """Two that have no agent yet."""

    def __init__(self) -> None:
        self.nodes = [Node(name, NodeFacts(f"id-{name}", name, name, {"cpu": 1}, {}, {})) for name in "ab"]
        self.sent: list[str] = []

    def named(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    def get(self, id: str) -> Node | None:
        return next((node for node in self.nodes if node.id == id), None)

    def send_agent(self, node: Node) -> None:
        self.sent.append(node.name)


def begin(*wishes: str) -> tuple[Trials, FakeLeases, FakeNodes]:
    """Trials t0, t1, ... that ask for a CPU of these nodes."""
    leases, nodes = FakeLeases(), FakeNodes()
    job: Any = SimpleNamespace(name="train")
    none: Any = None
    trials = Trials(job, False, Loop(), leases, none, none, none, Counter())  # type: ignore[arg-type]
    trials.nodes = nodes  # type: ignore[assignment]
    for index, name in enumerate(wishes):
        trials.start(Start(f"t{index}", 0, index, {}, CPU, Placement((name,), ((),))))
    return trials, leases, nodes


def waiting(trials: Trials) -> dict[str, list[str]]:
    return {
        node.name: [one.attempt.start.trial_id for one in found] for node, found in trials._waiting.items()
    }


def test_the_agent_of_a_node_is_sent_while_the_lease_is_being_made() -> None:
    _, leases, nodes = begin("b")
    assert nodes.sent == ["b"]
    assert len(leases.asked) == 1


def test_a_lease_that_was_wanted_before_goes_to_a_trial_that_asks_for_its_like() -> None:
    trials, leases, _ = begin("a", "b")
    leases.given = [(None, Lease(CPU, ("id-b",)))]
    trials.take_granted()
    assert waiting(trials) == {"b": ["t1"]}
    assert [one.start.trial_id for one in leases.forgotten] == ["t1"]
    leases.given = [(None, Lease(CPU, ("id-b",)))]  # not where it asked: one in the hand is better
    trials.take_granted()
    assert waiting(trials) == {"b": ["t1", "t0"]}
    leases.given = [(None, Lease(CPU, ("id-a",)))]
    trials.take_granted()
    assert len(leases.idle) == 1


def test_a_lease_that_comes_after_another_was_used_is_kept_for_later() -> None:
    trials, leases, _ = begin("a")
    (owner,) = leases.asked
    leases.given = [(None, Lease(CPU, ("id-a",))), (owner, Lease(CPU, ("id-a",)))]
    trials.take_granted()
    assert waiting(trials) == {"a": ["t0"]}
    assert len(leases.idle) == 1


def test_the_lease_of_a_trial_that_ended_goes_to_one_that_asks() -> None:
    trials, leases, _ = begin("a", "a")
    first, second = leases.asked
    leases.given = [(first, Lease(CPU, ("id-a",)))]
    trials.take_granted()
    trials._release(first)
    assert waiting(trials)["a"][-1] == second.start.trial_id
    assert leases.forgotten == [second]
    assert leases.idle == []


@pytest.mark.parametrize("change", ["leaves", "is doubtful", "is not known"])
@pytest.mark.parametrize("comes", ["from a trial", "from Ray"])
def test_a_lease_where_no_trial_may_be_placed_goes_to_no_other_trial(change: str, comes: str) -> None:
    trials, leases, nodes = begin("a", "b")
    first, _ = leases.asked
    held = Lease(CPU, ("id-a",))
    if comes == "from a trial":
        leases.given = [(first, held)]
        trials.take_granted()
    else:
        trials.pass_on(Halt("t0", 0))
    if change == "leaves":
        nodes.nodes[0].facts = replace(nodes.nodes[0].facts, leaves_in_s=30.0)
    elif change == "is doubtful":
        nodes.nodes[0].is_doubtful = True
    else:
        del nodes.nodes[0]
    if comes == "from a trial":
        trials._release(first)
    else:
        leases.given = [(None, held)]
        trials.take_granted()
    assert not any("t1" in names for names in waiting(trials).values())
    assert leases.idle == [held]
    assert [one.trial_id for one in trials.events if isinstance(one, Ended)] == ["t0"] * (comes == "from Ray")


def test_a_lease_on_a_node_where_no_agent_stays_is_of_no_use() -> None:
    trials, leases, nodes = begin("a")
    nodes.nodes[0].failures, nodes.nodes[0].error = 3, "no such module"
    leases.given = [(leases.asked[0], Lease(CPU, ("id-a",)))]
    trials.take_granted()
    (end,) = trials.events
    assert (end.cause, end.error) == ("lost", "node a cannot run it: no such module")  # type: ignore[union-attr]


def test_trials_of_the_last_node_where_no_agent_stays_end_the_run_and_not_one_by_one() -> None:
    trials, leases, nodes = begin("a", "a")
    trials._output = SimpleNamespace(say=lambda line: None)  # type: ignore[assignment]
    leases.given = [(owner, Lease(CPU, ("id-a",))) for owner in leases.asked]
    trials.take_granted()
    trials.on_broken(nodes.nodes[1], "no such module", True)
    assert trials.events == []
    with pytest.raises(
        OvertoneError, match="no node of the cluster can run trials; a cannot: no such module"
    ):
        trials.on_broken(nodes.nodes[0], "no such module", False)
    assert trials.events == []


def test_a_run_without_trials_on_its_last_node_waits_for_others() -> None:
    trials, _, nodes = begin("b")
    trials._output = SimpleNamespace(say=lambda line: None)  # type: ignore[assignment]
    trials.on_broken(nodes.nodes[0], "no such module", False)
    assert trials.events == []


class FakeLine:
    """Takes what is sent."""

    is_open = True

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def put(self, order: Any) -> None:
        self.sent.append(order)


def agent_ended(error: str, largest: Any) -> list[tuple[str, str, str]]:
    """How two trials ended whose agent ended with an error."""
    trials, leases, nodes = begin("a", "a")
    node = nodes.nodes[0]
    node.line = FakeLine()  # type: ignore[assignment]
    leases.given = [(owner, Lease(CPU, ("id-a",))) for owner in leases.asked]
    trials.take_granted()
    if largest is not None:
        trials.hear(node, [("largest", *largest)])
    node.error = error
    trials.on_silence(node, f"the agent of node a ended: {error}")
    return [(one.trial_id, one.cause, one.error) for one in trials.events]  # type: ignore[union-attr]


OOM = "OutOfMemoryError: 1 worker(s) were killed"
LOST = f"the agent of node a ended: {OOM}"


def test_where_ray_ended_the_agent_for_memory_the_trial_that_used_the_most_has_failed() -> None:
    ends = agent_ended(OOM, ("t1", 0, "out of memory: used 5 GB"))
    assert ends == [("t0", "lost", LOST), ("t1", "killed", "out of memory: used 5 GB")]


@pytest.mark.parametrize(
    "largest", [None, ("t1", 7, "of another attempt"), ("t9", 0, "of one that has ended")]
)
def test_without_a_measure_of_these_trials_all_are_lost(largest: Any) -> None:
    assert agent_ended(OOM, largest) == [("t0", "lost", LOST), ("t1", "lost", LOST)]


def test_an_agent_that_ended_otherwise_is_no_trials_failure() -> None:
    ends = agent_ended("ActorDiedError: it died", ("t1", 0, "out of memory: used 5 GB"))
    assert [cause for _, cause, _ in ends] == ["lost", "lost"]


# --- attempts on several nodes ------------------------------------------------------------


def two_ranks() -> tuple[Trials, list[Node], list[list[Any]]]:
    """An attempt of which each of two nodes runs a rank, and what was sent to the nodes."""
    trials, leases, nodes = begin()
    trials._output = SimpleNamespace(say=lambda line: None)  # type: ignore[assignment]
    demand = Resources.of([{"cpu": 1}] * 2)
    place = Placement(("a", "b"), ((), ()))
    trials.start(Start("t0", 0, 0, {}, demand, place, ranks=(0, 1), world_size=2))
    assert nodes.sent == ["a", "b"]
    a, b = nodes.nodes
    a.line = FakeLine()  # type: ignore[assignment]
    leases.given = [(leases.asked[0], Lease(demand, ("id-a", "id-b")))]
    trials.take_granted()
    assert waiting(trials) == {"b": ["t0"]}
    b.line = FakeLine()  # type: ignore[assignment]
    trials.on_agent(b)
    sent: list[list[Any]] = [a.line.sent, b.line.sent]  # type: ignore[union-attr]
    assert [[(one.ranks, one.world_size) for one in orders] for orders in sent] == [[((0,), 2)], [((1,), 2)]]
    for orders in sent:
        orders.clear()
    return trials, nodes.nodes, sent


def ends(trials: Trials) -> list[tuple[str, str]]:
    return [(one.cause, one.error) for one in trials.events if isinstance(one, Ended)]


KILL = ("kill", "t0")


@pytest.mark.parametrize("first", [0, 1])
def test_a_rank_that_fails_ends_the_others_and_is_told_once(first: int) -> None:
    trials, nodes, sent = two_ranks()
    trials.hear(nodes[first], [("ended", "t0", 0, "killed", "exited with code 7", "")])
    assert (sent[first], sent[1 - first]) == ([], [KILL])
    trials.hear(nodes[1 - first], [("ended", "t0", 0, "lost", "killed by signal 9 (SIGKILL)", "")])
    assert ends(trials) == [("killed", "exited with code 7")]
    assert len(trials) == 0


@pytest.mark.parametrize("first", [0, 1])
def test_the_loss_of_one_of_its_nodes_ends_an_attempt_once(first: int) -> None:
    trials, nodes, sent = two_ranks()
    trials.on_silence(nodes[first], "gone")
    assert sent[1 - first] == [KILL]
    trials.on_loss(nodes[first], "gone")
    assert ends(trials) == [("lost", "gone")]


def test_the_first_rank_reports_and_all_get_the_orders() -> None:
    trials, nodes, sent = two_ranks()
    for node in nodes:
        trials.hear(node, [("started", "t0", 0, 7, "host", None)])
    assert [event.node for event in trials.events] == ["a"]  # type: ignore[union-attr]
    trials.hear(nodes[1], [("noticed", "t0", 0, 3.0)])
    assert isinstance(trials.events[-1], Noticed)
    halt = Halt("t0", 0)
    trials.pass_on(halt)
    assert sent == [[halt], [halt]]
    trials.hear(nodes[1], [("ended", "t0", 0, "halted", "", "")])
    assert len(trials) == 1
    trials.hear(nodes[0], [("ended", "t0", 0, "halted", "", "")])
    assert (ends(trials), sent) == ([("halted", "")], [[halt], [halt]])


def test_a_halt_before_all_ranks_were_sent_ends_those_that_were() -> None:
    trials, leases, nodes = begin()
    demand = Resources.of([{"cpu": 1}] * 2)
    nodes.nodes[0].line = line = FakeLine()  # type: ignore[assignment]
    trials.start(Start("t0", 0, 0, {}, demand, Placement(("a", "b"), ((), ())), ranks=(0, 1), world_size=2))
    leases.given = [(leases.asked[0], Lease(demand, ("id-a", "id-b")))]
    trials.take_granted()
    trials.pass_on(Halt("t0", 0))
    assert (line.sent[1:], ends(trials), waiting(trials)) == ([KILL], [("halted", "")], {"b": []})
