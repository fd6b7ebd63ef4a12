"""The thread that asks Ray for leases goes on whatever Ray answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray import asked_leases, leases
from overtone.engines.ray.other_runs import UNCLAIMED_S

CPU = Resources.of({"cpu": 1})


@pytest.fixture
def news() -> threading.Event:
    return threading.Event()


@pytest.fixture
def held(news: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Iterator[leases.Leases]:
    monkeypatch.setattr(leases.cluster_connection, "is_connected", lambda: True)
    monkeypatch.setattr(asked_leases, "make_group", lambda shape, labels: "group")
    monkeypatch.setattr(asked_leases, "may_be_removed", lambda *_: True)
    monkeypatch.setattr(asked_leases, "is_made", lambda group: True)
    for module in (leases, asked_leases):
        monkeypatch.setattr(module, "remove_group", lambda group: None)
    made = leases.Leases(news.set)
    yield made
    made.close(5.0)


def test_what_ray_does_not_make_is_told_to_who_asked(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(shape: Resources, labels: Any) -> None:
        raise ValueError("no such strategy")

    monkeypatch.setattr(asked_leases, "make_group", refuses)
    held.ask("trial", CPU, ("node",))
    assert news.wait(60)
    assert held.refused() == [("trial", "Ray cannot hold cpu 1 for it: ValueError: no such strategy")]
    assert held.refused() == []


def test_an_error_of_ray_is_not_the_end(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [ConnectionError("the head is starting")]

    def is_there(wait: object) -> bool:
        if errors:
            raise errors.pop()
        return True

    monkeypatch.setattr(held._asked, "_is_there", is_there)
    held.ask("trial", CPU, ("node",))
    assert news.wait(60)
    ((owner, lease),) = held.granted()
    assert (owner, lease.nodes, lease.group) == ("trial", ("node",), "group")
    assert held.amounts() == {"cpu": 1.0}


def test_an_error_of_ray_while_the_limits_change_is_not_the_end(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["group", ConnectionError("the head is starting")]

    def make_group(shape: Resources, labels: Any) -> str:
        answer = answers.pop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(asked_leases, "make_group", make_group)
    monkeypatch.setattr(held._asked, "_finds_devices", lambda shape: False)
    held.share(frozenset(), frozenset(), 0, {CPU: 0})
    held.ask("trial", CPU, ("node",))
    held.share(frozenset(), frozenset(), 0, {CPU: 1})
    assert news.wait(60)
    ((owner, _),) = held.granted()
    assert owner == "trial"


def test_a_lease_of_which_ray_does_not_say_where_it_lies_is_taken_later(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [("node",), KeyError("bundles_to_node_id"), ("node",)]

    def nodes_of(shape: Resources, group: Any) -> tuple[str, ...]:
        answer = answers.pop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(asked_leases, "nodes_of", nodes_of)
    monkeypatch.setattr(held._asked, "_finds_devices", lambda shape: False)
    for trial in ("first", "second"):
        held.ask(trial, CPU, ())
    found: list[Any] = []
    while len(found) < 2:
        assert news.wait(60)
        news.clear()
        found += held.granted()
    assert {owner for owner, _ in found} == {"first", "second"}


@dataclass(eq=False)
class Group:
    """A placement group."""

    shape: Resources
    labels: Any
    is_made: bool = False


class Queue:
    """Ray's: the groups that were asked for and neither given nor removed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        monkeypatch.setattr(asked_leases, "make_group", self._make)
        monkeypatch.setattr(asked_leases, "remove_group", self._remove)
        monkeypatch.setattr(asked_leases, "may_be_removed", lambda *_: True)
        monkeypatch.setattr(asked_leases, "is_made", lambda group: group.is_made)

    def _remove(self, group: Any) -> None:
        self.asked = [one for one in self.asked if one is not group]  # twice is no error

    def _make(self, shape: Resources, labels: Any) -> Any:
        self.asked.append(Group(shape, labels))
        return self.asked[-1]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    return Queue(monkeypatch)


def test_a_lease_is_returned_that_was_dropped_just_before_the_end(
    held: leases.Leases, news: threading.Event, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "remove_group", queue._remove)
    monkeypatch.setattr(held._asked, "_finds_devices", lambda shape: False)
    monkeypatch.setattr(asked_leases, "is_made", lambda group: True)
    held.ask("trial", CPU, ("node",))
    assert news.wait(60)
    ((_, lease),) = held.granted()
    is_asking, may_answer = threading.Event(), threading.Event()

    def is_made(group: Any) -> bool:
        is_asking.set()
        return not may_answer.wait(60)

    monkeypatch.setattr(asked_leases, "is_made", is_made)
    held.ask("another", CPU, ("node",))
    assert is_asking.wait(60)
    held.drop(lease)
    threading.Timer(0.2, may_answer.set).start()
    held.close(60.0)
    assert queue.asked == []


def test_a_group_that_ray_makes_again_stays_until_it_is_made(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = queue._make(CPU, [])
    monkeypatch.setattr(asked_leases, "may_be_removed", lambda group, is_settled: group.is_made)
    asked.discard(lost)
    assert asked.patience_s() == asked_leases.LOOK_EVERY_S
    asked.look()
    assert queue.asked == [lost]
    lost.is_made = True
    asked.look()
    assert queue.asked == []
    assert asked.patience_s() is None


@pytest.fixture
def asked(queue: Queue) -> asked_leases.AskedLeases:
    return asked_leases.AskedLeases(lambda *_: None, lambda *_: None, lambda shape: False, {"team": "a"})


def test_no_more_wait_in_rays_queue_than_are_due(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = [object() for _ in range(3)]
    for owner in owners:
        asked.create(owner, CPU, ("node",))
    assert len(queue.asked) == 3
    asked.limit({CPU: 1})
    assert len(queue.asked) == 1
    asked.create(object(), CPU, ("node",))
    assert len(queue.asked) == 1
    asked.limit({})
    assert queue.asked == []
    monkeypatch.setattr(asked_leases, "SPARE_S", -1.0)
    asked.cancel(owners[0])
    asked._drop_spare()
    asked.limit({CPU: 2})
    assert len(queue.asked) == 2
    asked.limit(None)
    assert [group.labels for group in queue.asked] == [[{"ray.io/node-id": "node"}]] * 3


def test_what_its_node_does_not_give_is_asked_for_anywhere_before_others_take_it(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_leases.LOOSE_SHARED_S < UNCLAIMED_S
    monkeypatch.setattr(asked_leases, "LOOSE_SHARED_S", -1.0)
    asked.create(object(), CPU, ("full",))
    asked.look()
    assert [group.labels for group in queue.asked] == [[{"ray.io/node-id": "full"}]]
    asked.limit({CPU: 1})
    asked.look()
    assert [group.labels for group in queue.asked] == [[{"team": "a"}]]


def test_what_is_wanted_lies_on_nodes_that_are_to_come(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_leases, "SHOWN_EVERY_S", -1.0)
    asked.show(CPU, 2)
    asked.look()
    assert [group.labels for group in queue.asked] == [[{"team": "a"}]] * 2
    asked.show_beyond(frozenset({"x", "y"}))
    asked.look()
    assert [group.labels for group in queue.asked] == [[{"team": "a", "ray.io/node-id": "!in(x,y)"}]] * 2
    asked.show_beyond(frozenset())
    asked.look()
    assert [group.labels for group in queue.asked] == [[{"team": "a"}]] * 2


def test_what_is_shown_when_a_node_joins_stays_until_ray_has_looked_at_it(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted: list[Any] = []
    monkeypatch.setattr(asked_leases, "nodes_of", lambda shape, group: ("new",))
    monkeypatch.setattr(asked_leases, "SHOWN_EVERY_S", -1.0)
    monkeypatch.setattr(asked_leases, "may_be_removed", lambda group, is_settled: is_settled)
    asked = asked_leases.AskedLeases(lambda *given: granted.append(given), lambda *_: None, lambda shape: False, {})
    asked.show_beyond(frozenset({"x"}))
    asked.show(CPU, 2)
    asked.look()
    first = list(queue.asked)
    asked.show_beyond(frozenset({"x", "new"}))
    assert not asked.look()
    assert queue.asked == first
    assert asked.patience_s() == asked_leases.LOOK_EVERY_S
    first[0].is_made = True
    assert asked.look()
    ((owner, lease),) = granted
    assert (owner, lease.nodes, lease.group) == (None, ("new",), first[0])
    asked.show(CPU, 1)
    asked.look()
    asked.look()
    assert first[1] in queue.asked
    monkeypatch.setattr(asked_leases, "SETTLED_S", -1.0)
    asked.look()
    assert [group.labels for group in queue.asked if group is not first[0]] == [[{"ray.io/node-id": "!in(new,x)"}]]


def test_what_a_new_node_has_granted_stays_until_its_devices_are_known(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_leases, "SETTLED_S", -1.0)
    asked.show(CPU, 2)
    asked._show_now()
    first = list(queue.asked)
    asked._wanted[CPU][0].probes = ["a task that Ray runs in the group"]
    asked.show_beyond(frozenset({"new"}))
    asked._show_now()
    assert first[0] in queue.asked
    assert first[1] not in queue.asked
    asked.show(CPU, 0)
    asked._show_now()
    asked._show_now()
    assert queue.asked == first[:1]


def test_a_group_that_is_withdrawn_when_a_node_joins_is_removed_later(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_leases, "may_be_removed", lambda group, is_settled: is_settled)
    asked.show_beyond(frozenset({"x"}))
    asked.create("owner", CPU, ("x",))
    asked.show_beyond(frozenset({"x", "new"}))
    asked.limit({})
    asked.look()
    assert len(queue.asked) == 1
    monkeypatch.setattr(asked_leases, "SETTLED_S", -1.0)
    asked.look()
    assert queue.asked == []


def test_what_was_asked_for_one_trial_serves_the_next(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.create("first", CPU, ("node",))
    made = list(queue.asked)
    asked.cancel("first")  # it got the lease of a trial that has ended
    asked.create("next", CPU, ("node",))
    asked.look()
    assert queue.asked == made
    asked.create("elsewhere", CPU, ("other",))
    assert len(queue.asked) == 2
    monkeypatch.setattr(asked_leases, "SPARE_S", -1.0)
    asked.cancel("next")
    asked.look()
    assert queue.asked[0] is not made[0]


def test_groups_that_are_shown_stay_while_trials_follow_each_other(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_leases, "SHOWN_EVERY_S", -1.0)
    asked.show(CPU, 2)
    asked.look()
    first = list(queue.asked)
    for _ in range(3):
        asked.show(CPU, 0)  # a trial has ended, and the next one fits
        asked.show(CPU, 2)
        asked.look()
        assert queue.asked == first
    asked.show(CPU, 0)
    asked.look()
    asked.look()
    assert queue.asked == []
    assert asked.patience_s() is None


@pytest.mark.parametrize(
    "withdraw",
    [
        lambda asked: (asked.cancel("owner"), asked._drop_spare()),
        lambda asked: asked.limit({}),
        lambda asked: (asked.show_beyond(frozenset({"x"})), asked._show_now()),
        lambda asked: (asked.show(CPU, 0), asked._show_now(), asked._show_now()),
    ],
    ids=["cancel", "limit", "beyond", "less"],
)
def test_no_group_is_removed_while_ray_is_making_it(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch, withdraw: Any
) -> None:
    monkeypatch.setattr(asked_leases, "SPARE_S", -1.0)
    monkeypatch.setattr(asked_leases, "may_be_removed", lambda *_: False)
    asked.create("owner", CPU, ("node",))
    asked.show(CPU, 1)
    asked._show_now()
    made = list(queue.asked)
    assert len(made) == 2
    withdraw(asked)
    assert queue.asked[:2] == made
    monkeypatch.setattr(asked_leases, "may_be_removed", lambda *_: True)
    asked._remove_discarded()
    assert len([one for one in queue.asked if one in made]) == 1
    asked.close()
    assert queue.asked == []


def test_leases_of_trials_that_end_are_returned_as_often_as_others_wait_for_them(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held._asked, "_is_there", lambda wait: True)
    for _ in range(3):
        held.ask("trial", CPU, ("node",))
    while len(held.held) < 3:
        assert news.wait(60)
        held.granted()
    given = list(held.held)
    held.share(frozenset({"node"}), frozenset({"node"}), 2, {})
    for lease in given:
        held.put_back(lease)
    assert held.held == given[2:]
    assert held.places() == {(CPU, ("node",)): 1}
    assert held.take(CPU, ("node",)) is given[2]
