"""Who was passed over too long gets a reservation."""

import heapq
import random

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


def reserved(fairness, ledger, *times, shape=ONE):
    found = []
    for time in times:
        fairness.on_start(shape, time)
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
    fairness.on_start(ONE, 0.0)
    ledger.release("small")
    fairness.on_start(ONE, 5.0)
    ledger.place("small", ONE)
    assert reserved(fairness, ledger, 6.0, 7.0) == [None, "large"]


def test_paused_trials_get_none():
    fairness, ledger, _ = world(status=Status.PAUSED)
    fairness.on_length(1.0)
    assert reserved(fairness, ledger, 0.0, 9.0) == [None, None]


def test_a_trial_of_the_same_shape_passes_nobody():
    """Who of equals goes first is the scheduler's decision."""
    fairness, ledger, _ = world()
    fairness.on_length(1.0)
    assert reserved(fairness, ledger, 0.0, 9.0, 99.0, shape=FOUR) == [None, None, None]


def test_a_trial_that_takes_other_resources_passes_nobody():
    fairness, ledger, _ = world()
    fairness.on_length(1.0)
    assert reserved(fairness, ledger, 0.0, 9.0, shape=Resources.of({"licence": 1})) == [None, None]
    assert reserved(fairness, ledger, 10.0, 11.0, shape=Resources.of({"cpu": 1, "licence": 1})) == [
        None,
        "large",
    ]


def test_another_head_begins_anew():
    fairness, ledger, queue = world()
    fairness.on_length(10.0)
    fairness.on_start(ONE, 0.0)
    urgent = Trial("urgent", 1, {}, FOUR, priority=1.0)
    queue._trials["urgent"] = urgent
    queue.add(urgent)
    assert reserved(fairness, ledger, 10.0, 19.0, 20.0) == [None, None, "urgent"]


def test_a_reservation_is_followed_by_nine_times_as_long_without_one():
    fairness, ledger, _ = world()
    fairness.on_length(1.0)
    assert reserved(fairness, ledger, 0.0, 1.0) == [None, "large"]
    ledger.unreserve("large")  # it started, or was withdrawn
    found = reserved(fairness, ledger, 3.0, 20.9, 21.0)  # after 2 s, so for 18 s
    assert found == [None, None, "large"]


# --- a search of irregular trials --------------------------------------------------------

SMALL = [{"cpu": 1}, {"cpu": 2}, {"cpu": 1, "gpu": 0.5}, {"cpu": 1, "gpu": 1}, {"cpu": 1, "licence": 1}]
LARGE = [{"cpu": 8}, {"cpu": 4, "gpu": 2}, {"cpu": 6, "licence": 2}]


class NoFairness:
    """Trials start as they fit, and large ones wait for the end."""

    def __init__(self, queue, ledger):
        pass

    def on_length(self, length_s):
        pass

    def on_start(self, resources, time):
        pass


def irregular(seed, large, n=300):
    """(length, demand) of trials that take 1 to 1,000 s, of which those in `large` are large."""
    draw = random.Random(seed)
    return [
        (10 ** draw.uniform(0, 3), Resources.of(draw.choice(LARGE if index in large else SMALL)))
        for index in range(n)
    ]


def simulate(irregular, rule, ahead=16):
    """When the last trial ends, and the seconds that large ones waited, in sum."""
    trials, ends, waiting, waited, now = {}, [], {}, 0.0, 0.0
    ledger = Ledger({"a": {"cpu": 8, "gpu": 2, "licence": 2}})
    queue = Queue(trials, ledger)
    fairness = rule(queue, ledger)
    to_come = list(enumerate(irregular))[::-1]
    while True:
        while to_come and queue.n_pending < ahead:
            index, (_, demand) = to_come.pop()
            trials[str(index)] = trial = Trial(str(index), index, {}, demand)
            waiting[trial.id] = now
            queue.add(trial)
        trial = next(queue.runnable(), None)
        if trial is not None:
            ledger.place(trial.id, trial.resources)
            queue.remove(trial)
            if trial.resources.total()["cpu"] >= 4:
                waited += now - waiting[trial.id]
            del waiting[trial.id]
            heapq.heappush(ends, (now + irregular[trial.index][0], trial.id, now))
            fairness.on_start(trial.resources, now)
        elif ends:
            now, ended, began = heapq.heappop(ends)
            ledger.release(ended)
            fairness.on_length(now - began)
        else:
            assert not waiting, "every feasible trial starts in the end"
            return now, waited


def test_irregular_trials_keep_the_machine_full():
    """In sum at most a tenth longer than without reservations, which nothing can fill better."""
    searches = [irregular(seed, range(7, 300, 10)) for seed in range(4)]
    fair, full = ([simulate(search, rule)[0] for search in searches] for rule in (Fairness, NoFairness))
    assert sum(fair) < 1.1 * sum(full)


def test_a_large_trial_among_irregular_small_ones_gets_its_turn():
    for seed in range(4):
        search = irregular(seed, {9})
        ends, waited = simulate(search, NoFairness)
        assert waited > 0.8 * ends
        ends, waited = simulate(search, Fairness)
        assert waited < 0.3 * ends
