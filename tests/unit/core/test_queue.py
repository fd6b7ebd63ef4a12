"""Trials that wait, in the order in which they should start."""

import pytest

from overtone.core.ledger import Ledger
from overtone.core.queue import Queue
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial

ONE, TWO, FOUR = (Resources.of({"cpu": n}) for n in (1, 2, 4))


class Waiting:
    def __init__(self, cpus=4):
        self.trials, self.ledger = {}, Ledger({"a": {"cpu": cpus}})
        self.queue = Queue(self.trials, self.ledger)

    def add(self, shape=ONE, priority=0.0, status=Status.PENDING):
        index = len(self.trials)
        trial = Trial(f"t{index}", index, {}, shape, status, priority=priority)
        self.trials[trial.id] = trial
        self.queue.add(trial)
        return trial

    def order(self):
        return [trial.index for trial in self.queue.runnable()]


def test_pending_by_priority_and_age_and_then_paused_likewise():
    waiting = Waiting()
    waiting.add(ONE, status=Status.PAUSED)
    waiting.add(TWO, status=Status.PARKED, priority=9)
    waiting.add(ONE)
    waiting.add(TWO, priority=1)
    waiting.add(TWO)
    assert waiting.order() == [3, 2, 4, 1, 0]
    assert [trial.index for trial in waiting.queue.pending()] == [3, 2, 4]
    assert [trial.index for trial in waiting.queue.paused()] == [0, 1]
    assert waiting.queue.head().index == 3
    assert (len(waiting.queue), waiting.queue.n_pending) == (5, 3)


def test_only_what_fits_is_runnable():
    waiting = Waiting(cpus=2)
    waiting.add(FOUR)
    small = waiting.add(ONE)
    assert waiting.order() == [1]
    assert waiting.queue.fits(small)
    assert waiting.queue.head().index == 0
    waiting.ledger.place("x", TWO)
    assert waiting.order() == []


def test_an_empty_queue():
    queue = Waiting().queue
    assert list(queue.runnable()) == []
    assert queue.head() is None
    assert queue.paused() == queue.pending() == []
    assert len(queue) == queue.n_pending == 0


def test_paused_trials_are_no_head():
    waiting = Waiting()
    waiting.add(status=Status.PAUSED)
    assert waiting.queue.head() is None


def test_removing():
    waiting = Waiting()
    one, other = waiting.add(), waiting.add()
    waiting.queue.remove(one)
    assert waiting.order() == [1]
    assert waiting.queue.n_pending == 1
    waiting.queue.remove(other)
    assert len(waiting.queue) == waiting.queue.n_pending == 0


def test_removing_what_does_not_wait_is_an_error():
    waiting = Waiting()
    trial = waiting.add()
    waiting.add()
    waiting.queue.remove(trial)
    with pytest.raises(KeyError, match="t0"):
        waiting.queue.remove(trial)


def test_the_owner_of_the_reservation_comes_first_and_once():
    waiting = Waiting(cpus=4)
    waiting.add(ONE, priority=5)
    large = waiting.add(FOUR)
    waiting.ledger.reserve(large.id, FOUR)
    assert waiting.order() == [1]
    waiting.ledger.set_capacity({"a": {"cpu": 8}})
    assert waiting.order() == [1, 0]  # it would fit without a reservation, too
    waiting.ledger.set_capacity({"a": {"cpu": 4}})
    waiting.ledger.unreserve(large.id)
    assert waiting.order() == [0, 1]
    waiting.ledger.reserve(large.id, TWO)
    assert waiting.order() == [1, 0]


def test_whether_any_may_start_is_known_without_looking_for_it():
    waiting = Waiting(cpus=2)
    assert not waiting.queue
    waiting.add(FOUR)
    assert waiting.queue
    assert not waiting.queue.has_runnable()
    waiting.add(TWO)
    assert waiting.queue.has_runnable()
    waiting.ledger.place("other", ONE)
    assert not waiting.queue.has_runnable()
