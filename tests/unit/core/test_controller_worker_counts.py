"""A trial whose number of workers may vary starts with as many as the nodes can hold."""

from __future__ import annotations

from dataclasses import replace

from overtone.core import messages as m
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.journal.codec import Codec
from overtone.testing.manual_controller import ByHand

WORKER = {"cpu": 1}
GANG = replace(Resources.of([{}, WORKER, WORKER, WORKER, WORKER]), workers=(2, 4))


def begun(hand: ByHand) -> list[m.Start]:
    return [one for one in hand.tell(m.Suggested(0.0, 0, {})) if isinstance(one, m.Start)]


def made(cpus: float, n: int = 1, **limits: object) -> ByHand:
    hand = ByHand(limits={"total": n, **limits}, template=Template(lambda _: GANG))
    hand.tell(m.CapacityChanged(0.0, {"a": {"cpu": cpus}}))
    return hand


def n_workers(start: m.Start) -> int:
    return len(start.resources.bundles) - 1


def test_it_starts_with_the_largest_number_that_fits() -> None:
    assert n_workers(begun(made(8.0))[0]) == 4
    hand = made(3.0)
    assert n_workers(begun(hand)[0]) == 3
    moved = [one for one in hand.choices if isinstance(one, m.Moved) and one.resources is not None]
    assert [(one.status, one.why and one.why.rule) for one in moved] == [("PENDING", "elastic")]
    assert "3 workers" in str(moved[0].why)


def test_fewer_than_the_smallest_number_fail() -> None:
    hand = made(1.0)
    assert begun(hand) == []
    assert [trial.status for trial in hand.controller.trials.values()] == [Status.ERROR]


def test_it_waits_for_others_rather_than_start_smaller() -> None:
    hand = made(6.0, n=2, lookahead=1)
    (first,) = begun(hand)
    assert not [one for one in hand.tell(m.Suggested(0.0, 1, {})) if isinstance(one, m.Start)]
    commands = hand.tell(m.Ended(1.0, first.trial_id, first.attempt, "lost", "its node is gone"))
    assert [n_workers(one) for one in commands if isinstance(one, m.Start)] == [4]


def test_after_the_loss_of_a_node_it_goes_on_with_fewer_and_then_with_more() -> None:
    hand = ByHand(limits={"total": 1}, template=Template(lambda _: GANG))
    hand.tell(m.CapacityChanged(0.0, {"a": {"cpu": 2.0}, "b": {"cpu": 2.0}}))
    (start,) = begun(hand)
    assert n_workers(start) == 4
    hand.tell(m.CapacityChanged(1.0, {"a": {"cpu": 2.0}}))
    commands = hand.tell(m.Ended(1.1, start.trial_id, start.attempt, "lost", "its node is gone"))
    (smaller,) = [one for one in commands if isinstance(one, m.Start)]
    assert n_workers(smaller) == 2
    hand.tell(m.CapacityChanged(2.0, {"a": {"cpu": 2.0}, "c": {"cpu": 4.0}}))
    assert hand.controller.trials[start.trial_id].status is Status.STARTING  # it keeps its size while it runs
    commands = hand.tell(m.Ended(2.1, start.trial_id, smaller.attempt, "lost", "its node is gone"))
    assert [n_workers(one) for one in commands if isinstance(one, m.Start)] == [4]


def test_the_journal_keeps_the_range() -> None:
    codec = Codec()
    record = m.Record(0, m.Suggested(0.0, 0, {}), (m.Added("t", 0, {}, GANG, "", 0.0, None, None, ""),))
    (added,) = codec.decode(codec.encode(record)).choices
    assert added.resources == GANG
