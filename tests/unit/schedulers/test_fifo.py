"""First in, first out."""

from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.schedulers.fifo import FIFOScheduler
from overtone.testing.manual_controller import ByHand
from overtone.tune.schedulers import FIFO


def test_trials_run_to_their_end_in_order_and_never_wait():
    hand = ByHand(FIFOScheduler(), goal=Goal(), limits={"lookahead": 2, "total": 3})
    first = hand.run()
    hand.suggest({}), hand.suggest({})
    for t in range(1, 50):
        assert hand.report(first, t) == []
    (order,) = hand.ended(first)
    assert (order.index, order.until_t) == (1, m.NEVER)


def test_it_needs_no_metric():
    assert FIFO is FIFOScheduler
    assert not FIFO().needs_metric
    assert FIFO().describe() == "Using FIFO scheduling algorithm."
