"""Checkpoints are deleted once nothing can be lost by it."""

from __future__ import annotations

from overtone.core import messages as m
from overtone.run.storage.deletions import Deletions

A, B = m.Discard("a"), m.Discard("b")


class Log:
    """A journal of which so much is written, and so much is safe."""

    def __init__(self, is_urgent: bool = False) -> None:
        self.written = self.safe = self.n_hastened = 0
        self.deletions = Deletions(lambda: self.written, lambda: self.safe, self.hasten, is_urgent)

    def hasten(self) -> None:
        self.n_hastened += 1


def test_an_order_waits_until_all_that_was_written_before_it_is_safe() -> None:
    log = Log()
    log.written = 100
    log.deletions.hold([A])
    log.written = 200
    log.deletions.hold([B])
    assert log.deletions.due() == []
    log.safe = 99
    assert log.deletions.due() == []
    log.safe = 100
    assert log.deletions.due() == [A]
    assert len(log.deletions) == 1
    log.safe = 1000
    assert log.deletions.due() == [B]
    assert not log.deletions
    assert log.n_hastened == 0


def test_where_trials_wait_for_room_the_journal_is_made_safe_at_once() -> None:
    log = Log(is_urgent=True)
    log.deletions.hold([])
    assert log.n_hastened == 0
    log.deletions.hold([A])
    assert log.n_hastened == 1


def test_what_waits_can_be_hastened() -> None:
    log = Log()
    log.deletions.hasten()
    assert log.n_hastened == 0
    log.written = 1
    log.deletions.hold([A])
    log.deletions.hasten()
    assert log.n_hastened == 1
