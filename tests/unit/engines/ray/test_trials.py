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
from overtone.worker.protocol import RanksGone

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
    found = trials._delivery._waiting
    return {node.name: [one.attempt.start.trial_id for one in parts] for node, parts in found.items()}


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
    trials._end(first, "halted")
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
        trials._end(first, "halted")
    else:
        leases.given = [(None, held)]
        trials.take_granted()
    assert not any("t1" in names for names in waiting(trials).values())
    assert leases.idle == [held]
    assert [one.trial_id for one in trials.events if isinstance(one, Ended)] == ["t0"]


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


# --- gangs: the head on node a, ranks on both nodes --------------------------------------

PLAN = (0, 2, "10.0.0.1:7000", "secret")
MADE = ("make_ranks", "t0", 0, *PLAN)
KILL = ("kill", "t0")
FAILED = ("ended", "t0", 0, "killed", "exited with code 7", "")


def head_alone(*bundles: dict[str, float]) -> tuple[Trials, list[Node], list[list[Any]]]:
    """A trial on node a with a bundle on each node, and what was sent to the nodes."""
    trials, leases, nodes = begin()
    trials._output = SimpleNamespace(say=lambda line: None)  # type: ignore[assignment]
    demand = Resources.of(bundles or [{"cpu": 1}] * 3)
    n = len(demand.bundles)
    a, b = nodes.nodes
    a.line, b.line = FakeLine(), FakeLine()  # type: ignore[assignment]
    trials.start(Start("t0", 0, 0, {}, demand, Placement(("a",) * n, ((),) * n)))
    leases.given = [(leases.asked[0], Lease(demand, ("id-a", "id-a", "id-b")[:n]))]  # loosened
    trials.take_granted()
    sent: list[list[Any]] = [a.line.sent, b.line.sent]  # type: ignore[union-attr]
    assert [type(one) for one in sent[0]] == [Start]
    assert sent[1] == []
    sent[0].clear()
    return trials, nodes.nodes, sent


def two_ranks() -> tuple[Trials, list[Node], list[list[Any]]]:
    """The same with a rank on each node."""
    trials, nodes, sent = head_alone()
    trials.hear(nodes[0], [MADE])
    kinds = [[(one[0], [order.place.rank for order in one[1]], one[2]) for one in orders] for orders in sent]
    assert kinds == [[("start_ranks", [0], True)], [("start_ranks", [1], False)]]
    for orders in sent:
        orders.clear()
    return trials, nodes, sent


def ends(trials: Trials) -> list[tuple[str, str]]:
    return [(one.cause, one.error) for one in trials.events if isinstance(one, Ended)]


def test_ranks_are_sent_to_the_nodes_that_ray_has_given_and_see_their_own_accelerators() -> None:
    trials, nodes, sent = head_alone()
    attempt = trials._attempts["t0"]
    assert attempt.lease is not None
    attempt.lease.devices = ((("TPU", "0"),), (("TPU", "1"),), (("TPU", "2"),))
    trials.hear(nodes[0], [MADE])
    (first,), (second,) = (orders[0][1] for orders in sent)
    assert [one.start.placement.nodes for one in (first, second)] == [("a",), ("b",)]
    assert [dict(one.start.devices or ())["TPU"] for one in (first, second)] == ["1", "2"]
    assert [(one.place.node_rank, one.place.num_nodes) for one in (first, second)] == [(0, 2), (1, 2)]


@pytest.mark.parametrize("first", [0, 1])
def test_a_rank_that_fails_ends_the_others_and_is_told_once_all_are_gone(first: int) -> None:
    trials, nodes, sent = two_ranks()
    trials.hear(nodes[first], [FAILED])
    assert (sent[first], sent[1 - first], ends(trials)) == ([], [KILL], [])
    trials.hear(nodes[1 - first], [("ended", "t0", 0, "lost", "killed by signal 9 (SIGKILL)", "")])
    assert ends(trials) == [("killed", "exited with code 7")]
    assert len(trials) == 0
    assert trials._leases.idle  # type: ignore[attr-defined]


@pytest.mark.parametrize("first", [0, 1])
def test_the_loss_of_one_of_its_nodes_ends_an_attempt_once(first: int) -> None:
    trials, nodes, sent = two_ranks()
    trials.on_silence(nodes[first], "gone")
    trials.on_loss(nodes[first], "gone")
    assert (sent[1 - first], ends(trials)) == ([KILL], [])
    trials.hear(nodes[1 - first], [("ended", "t0", 0, "lost", "killed by signal 9 (SIGKILL)", "")])
    assert ends(trials) == [("lost", "gone")]
    assert not trials._leases.idle  # type: ignore[attr-defined]


def test_a_failure_that_the_loss_of_another_node_has_caused_is_a_loss() -> None:
    trials, nodes, _ = two_ranks()
    trials.hear(nodes[0], [("ended", "t0", 0, "raised", "GangError: rank 1 is gone", "")])
    trials.on_loss(nodes[1], "gone")
    assert ends(trials) == [("lost", "gone")]


def test_a_node_that_does_not_say_that_its_ranks_are_gone_is_lost(monkeypatch: Any) -> None:
    trials, nodes, _ = two_ranks()
    trials.hear(nodes[0], [FAILED])
    (attempt,) = trials._attempts.values()
    trials._on_no_answer(attempt)
    assert ends(trials) == [("lost", "node b does not answer any more")]
    trials._on_no_answer(attempt)
    assert len(ends(trials)) == 1


def test_the_head_reports_and_gets_the_orders_alone() -> None:
    trials, nodes, sent = two_ranks()
    trials.hear(nodes[0], [("started", "t0", 0, 7, "host", None)])
    trials.hear(nodes[1], [("rank_pids", "t0", 0, [8]), ("noticed", "t0", 0, 3.0)])
    assert isinstance(trials.events[-1], Noticed)
    assert [(node.name, pid) for node, pid in trials.processes("t0")] == [("a", 7), ("b", 8)]
    halt = Halt("t0", 0)
    trials.pass_on(halt)
    assert sent == [[halt], []]
    trials.hear(nodes[0], [("ended", "t0", 0, "halted", "", "")])
    assert sent == [[halt], [KILL]]
    trials.hear(nodes[1], [("ended", "t0", 0, "lost", "killed by signal 9 (SIGKILL)", "")])
    assert ends(trials) == [("halted", "")]


def test_a_rank_that_reports_for_the_attempt_ends_it() -> None:
    trials, nodes, _ = two_ranks()
    trials.hear(nodes[1], [("started", "t0", 0, 8, "host", None)])
    trials.hear(nodes[1], [FAILED])
    trials.hear(nodes[0], [FAILED])
    ((cause, error),) = ends(trials)
    assert cause == "killed"
    assert "'started' of a rank" in error


def test_the_head_hears_that_the_ranks_are_gone_once_all_nodes_have_said_so() -> None:
    trials, nodes, sent = two_ranks()
    trials.hear(nodes[0], [("end_ranks", "t0", 0, 0)])
    end = ("end_ranks", "t0", 0, 0)
    assert sent == [[end], [end]]
    trials.hear(nodes[0], [("ranks_gone", "t0", 0, 0, "")])
    assert sent == [[end], [end]]
    trials.hear(nodes[1], [("ranks_gone", "t0", 0, 0, "")])
    assert sent == [[end, RanksGone("t0", 0, 0)], [end]]
    trials.hear(nodes[0], [("make_ranks", "t0", 0, 1, *PLAN[1:])])
    assert [orders[-1][0] for orders in sent] == ["start_ranks", "start_ranks"]
    trials.hear(nodes[1], [("ranks_gone", "t0", 0, 0, "")])  # late, of the first generation
    assert sent[0][-1][0] == "start_ranks"


def test_ranks_that_one_node_cannot_make_are_ended_on_the_others() -> None:
    trials, nodes, sent = two_ranks()
    end, why = ("end_ranks", "t0", 0, 0), RanksGone("t0", 0, 0, "no more files")
    trials.hear(nodes[1], [("ranks_gone", "t0", 0, 0, "no more files")])
    assert sent == [[why, end], []]
    trials.hear(nodes[0], [("end_ranks", "t0", 0, 0)])
    trials.hear(nodes[0], [("ranks_gone", "t0", 0, 0, "")])
    assert sent == [[why, end, end, RanksGone("t0", 0, 0)], []]


def test_a_head_that_has_ranks_gets_no_others() -> None:
    trials, nodes, _ = two_ranks()
    trials.hear(nodes[0], [MADE])
    trials.hear(nodes[0], [FAILED])
    trials.hear(nodes[1], [FAILED])
    ((cause, error),) = ends(trials)
    assert (cause, "while it has ranks" in error) == ("killed", True)


def test_too_few_bundles_are_answered_at_once() -> None:
    trials, nodes, sent = head_alone({"cpu": 1})
    trials.hear(nodes[1], [MADE])  # it is no node of the trial
    assert sent == [[], []]
    trials.hear(nodes[0], [MADE])
    (answer,) = sent[0]
    assert "resources_per_trial" in answer.error
    assert len(trials) == 1


def test_ranks_wait_for_the_agent_of_their_node() -> None:
    trials, nodes, sent = head_alone()
    b = nodes[1]
    b.line = None
    trials.hear(nodes[0], [MADE])
    assert waiting(trials) == {"b": ["t0"]}
    b.line = line = FakeLine()  # type: ignore[assignment]
    trials.on_agent(b)
    assert [one[0] for one in line.sent] == ["start_ranks"]
    b.line = None
    trials.hear(nodes[0], [FAILED])
    assert waiting(trials) == {}


def test_a_halt_before_the_head_was_sent_ends_the_attempt() -> None:
    trials, leases, nodes = begin("a")
    leases.given = [(leases.asked[0], Lease(CPU, ("id-a",)))]
    trials.take_granted()
    trials.pass_on(Halt("t0", 0))
    assert (ends(trials), waiting(trials)) == ([("halted", "")], {"a": []})
