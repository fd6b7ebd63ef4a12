"""What is wanted is told once, within bounds, and taken back."""

from __future__ import annotations

from overtone.core.capacity_requests import MOST, Wants
from overtone.core.ledger import Ledger
from overtone.core.limits import Limits
from overtone.core.messages import Want
from overtone.core.queue import Queue
from overtone.core.resources import Resources
from overtone.core.suggestion_quota import Supply

SMALL, LARGE = Resources.of({"cpu": 1}), Resources.of({"gpu": 1})


def made() -> Wants:
    ledger = Ledger({"a": {"cpu": 1.0}})
    return Wants(Queue({}, ledger), Supply(None, 0), ledger)


def test_nobody_waits() -> None:
    assert made().look(Limits(is_elastic=True), is_closing=False) == []


def test_changes_are_told_once() -> None:
    wants = made()
    assert wants.news({SMALL: 3}, 10) == [Want(SMALL, 3)]
    assert wants.news({SMALL: 3}, 10) == []
    assert wants.news({LARGE: 1}, 10) == [Want(LARGE, 1), Want(SMALL, 0)]
    assert wants.news({}, 10) == [Want(LARGE, 0)]


def test_no_more_than_there_is_room_for() -> None:
    assert made().news({SMALL: 3, LARGE: 3}, 4) == [Want(SMALL, 3), Want(LARGE, 1)]
    assert made().news({SMALL: 10**6}, float("inf")) == [Want(SMALL, MOST)]
    assert made().news({SMALL: 1}, -1) == []


def test_another_engine_is_told_anew() -> None:
    wants = made()
    wants.news({SMALL: 1}, 5)
    wants.forget()
    assert wants.news({SMALL: 1}, 5) == [Want(SMALL, 1)]
