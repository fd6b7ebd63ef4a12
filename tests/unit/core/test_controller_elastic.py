"""Where capacity may come, what does not fit waits, and is told of."""

from __future__ import annotations

from overtone.core import messages as m
from overtone.core.capacity_requests import MOST
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.testing.manual_controller import ByHand

GPU = Resources.of({"gpu": 1})


def elastic(is_elastic: bool) -> ByHand:
    return ByHand(limits={"total": 2, "is_elastic": is_elastic}, template=Template(lambda _: GPU))


def test_on_one_machine_what_never_fits_fails() -> None:
    hand = elastic(is_elastic=False)
    hand.tell(m.Suggested(0.0, 0, {}))
    assert [trial.status for trial in hand.controller.trials.values()] == [Status.ERROR]


def test_on_a_cluster_it_waits_until_a_node_comes() -> None:
    hand = elastic(is_elastic=True)
    commands = hand.tell(m.Suggested(0.0, 0, {}))
    assert m.Want(GPU, 2) in commands  # also for the one to come
    assert not hand.controller.is_done
    commands = hand.tell(m.CapacityChanged(1.0, {"a": {"gpu": 2.0}}))
    assert m.Want(GPU, 0) in commands
    assert [one.trial_id for one in commands if isinstance(one, m.Start)] == list(hand.controller.trials)


def test_a_search_without_end_wants_more_once_all_is_in_use() -> None:
    hand = ByHand(limits={"is_elastic": True}, template=Template(lambda _: GPU))
    hand.tell(m.CapacityChanged(0.0, {"a": {"gpu": 1.0}}))
    commands = hand.tell(m.Suggested(0.0, 0, {}))
    assert m.Want(GPU, MOST) in commands
    commands = hand.tell(m.CapacityChanged(1.0, {"a": {"gpu": 2.0}}))
    assert m.Want(GPU, 0) in commands  # there is room for the next one
    commands = hand.tell(m.Suggested(2.0, 1, None))
    assert not [one for one in commands if isinstance(one, m.Want)]


def test_a_searcher_that_has_nothing_now_wants_nothing() -> None:
    hand = ByHand(limits={"is_elastic": True}, template=Template(lambda _: GPU))
    hand.tell(m.CapacityChanged(0.0, {"a": {"gpu": 2.0}}))
    hand.tell(m.Suggested(0.0, 0, {}))
    hand.tell(m.Suggested(0.0, 1, None))
    commands = hand.tell(m.CapacityChanged(1.0, {"a": {"gpu": 1.0}}))
    assert not [one for one in commands if isinstance(one, m.Want)]
