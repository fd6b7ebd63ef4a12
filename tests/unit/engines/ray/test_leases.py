"""The thread that asks Ray for leases goes on whatever Ray answers."""

from __future__ import annotations

import threading
import types
from collections.abc import Iterator
from typing import Any

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray import asked_leases, leases

CPU = Resources.of({"cpu": 1})


@pytest.fixture
def news() -> threading.Event:
    return threading.Event()


@pytest.fixture
def held(news: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Iterator[leases.Leases]:
    monkeypatch.setattr(leases.connecting, "is_connected", lambda: True)
    monkeypatch.setattr(asked_leases, "make_group", lambda shape, labels: "group")
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
    assert news.wait(10)
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
    assert news.wait(10)
    ((owner, lease),) = held.granted()
    assert (owner, lease.nodes, lease.group) == ("trial", ("node",), "group")
    assert held.amounts() == {"cpu": 1.0}


class Queue:
    """Ray's: the groups that were asked for and neither given nor removed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        monkeypatch.setattr(asked_leases, "make_group", self._make)
        monkeypatch.setattr(asked_leases, "remove_group", self._remove)

    def _remove(self, group: Any) -> None:
        self.asked = [one for one in self.asked if one is not group]  # twice is no error

    def _make(self, shape: Resources, labels: Any) -> Any:
        self.asked.append(types.SimpleNamespace(shape=shape, labels=labels, wait=lambda s: False))
        return self.asked[-1]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    return Queue(monkeypatch)


@pytest.fixture
def asked(queue: Queue) -> asked_leases.AskedLeases:
    return asked_leases.AskedLeases(lambda *_: None, lambda *_: None, False, {"team": "a"})


def test_no_more_wait_in_rays_queue_than_are_due(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_leases, "SETTLED_S", 0.0)
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
    asked.cancel(owners[0])
    asked.limit({CPU: 2})
    assert len(queue.asked) == 2
    asked.limit(None)
    assert [group.labels for group in queue.asked] == [[{"ray.io/node-id": "node"}]] * 3


def test_a_group_that_ray_may_be_making_is_not_removed_yet(
    asked: asked_leases.AskedLeases, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_leases, "SETTLED_S", 1000.0)
    asked.create(object(), CPU, ("node",))
    asked.limit({})
    assert len(queue.asked) == 1
    monkeypatch.setattr(asked_leases, "SETTLED_S", 0.0)
    monkeypatch.setattr(asked, "_is_there", lambda wait: False)
    asked.look()
    assert queue.asked == []


def test_what_is_wanted_lies_on_nodes_that_are_to_come(
    asked: asked_leases.AskedLeases, queue: Queue
) -> None:
    asked.show(CPU, 2)
    assert [group.labels for group in queue.asked] == [[{"team": "a"}]] * 2
    asked.show_beyond(frozenset({"x", "y"}))
    assert [group.labels for group in queue.asked] == [[{"team": "a", "ray.io/node-id": "!in(x,y)"}]] * 2
    asked.show_beyond(frozenset())
    assert [group.labels for group in queue.asked] == [[{"team": "a"}]] * 2


def test_leases_of_trials_that_end_are_returned_as_often_as_others_wait_for_them(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held._asked, "_is_there", lambda wait: True)
    for _ in range(3):
        held.ask("trial", CPU, ("node",))
    while len(held.held) < 3:
        assert news.wait(10)
        held.granted()
    given = list(held.held)
    held.share(frozenset({"node"}), frozenset({"node"}), 2, {})
    for lease in given:
        held.put_back(lease)
    assert held.held == given[2:]
    assert held.places() == {(CPU, ("node",)): 1}
    assert held.take(CPU, ("node",)) is given[2]
