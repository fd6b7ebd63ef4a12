"""The thread that asks Ray for leases goes on whatever Ray answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray import leases

CPU = Resources.of({"cpu": 1})


@pytest.fixture
def news() -> threading.Event:
    return threading.Event()


@pytest.fixture
def held(news: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Iterator[leases.Leases]:
    monkeypatch.setattr(leases.connecting, "is_connected", lambda: True)
    monkeypatch.setattr(leases, "make_group", lambda shape, labels: "group")
    monkeypatch.setattr(leases, "remove_group", lambda group: None)
    made = leases.Leases(news.set)
    yield made
    made.close(5.0)


def test_what_ray_does_not_make_is_told_to_who_asked(
    held: leases.Leases, news: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(shape: Resources, labels: Any) -> None:
        raise ValueError("no such strategy")

    monkeypatch.setattr(leases, "make_group", refuses)
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

    monkeypatch.setattr(held, "_is_there", is_there)
    held.ask("trial", CPU, ("node",))
    assert news.wait(10)
    ((owner, lease),) = held.granted()
    assert (owner, lease.nodes, lease.group) == ("trial", ("node",), "group")
    assert held.amounts() == {"cpu": 1.0}
