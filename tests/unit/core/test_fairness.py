"""Who was passed over too long gets a reservation."""

from overtone.core.fairness import Fairness
from overtone.core.ledger import Ledger
from overtone.core.queue import Queue
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial

ONE, FOUR = (Resources.of({"cpu": n}) for n in (1, 4))


def world(shape=FOUR, status=Status.PENDING):
    trials = {"large": Trial("large", 0, {}, shape, status)}
    ledger = Ledger({"a": {"cpu": 4}})
    ledger.place("small", ONE)
    queue = Queue(trials, ledger)
    queue.add(trials["large"])
    return Fairness(queue, ledger), ledger, queue


def reserved(fairness, ledger, *times):
    found = []
    for time in times:
        fairness.on_start(time)
        found.append(ledger.reserved_for)
    return found


def test_after_the_median_length():
    fairness, ledger, _ = world()
    for length in (1.0, 10.0, 100.0):
        fairness.on_length(length)
    assert reserved(fairness, ledger, 5.0, 14.9, 15.0, 99.0) == [None, None, "large", "large"]


def test_not_before_any_trial_has_ended():
    fairness, ledger, _ = world()
    assert reserved(fairness, ledger, 0.0, 1e9) == [None, None]
    fairness.on_length(1.0)
    assert reserved(fairness, ledger, 1e9) == ["large"]


def test_only_the_last_hundred_lengths_count():
    fairness, ledger, _ = world()
    for length in [1000.0] * 101 + [1.0] * 101:
        fairness.on_length(length)
    assert reserved(fairness, ledger, 0.0, 1.0) == [None, "large"]


def test_who_fits_is_not_passed_over():
    fairness, ledger, _ = world()
    fairness.on_length(1.0)
    fairness.on_start(0.0)
    ledger.release("small")
    fairness.on_start(5.0)
    ledger.place("small", ONE)
    assert reserved(fairness, ledger, 6.0, 7.0) == [None, "large"]


def test_paused_trials_get_none():
    fairness, ledger, _ = world(status=Status.PAUSED)
    fairness.on_length(1.0)
    assert reserved(fairness, ledger, 0.0, 9.0) == [None, None]


def test_another_head_begins_anew():
    fairness, ledger, queue = world()
    fairness.on_length(10.0)
    fairness.on_start(0.0)
    urgent = Trial("urgent", 1, {}, FOUR, priority=1.0)
    queue._trials["urgent"] = urgent
    queue.add(urgent)
    assert reserved(fairness, ledger, 10.0, 19.0, 20.0) == [None, None, "urgent"]
