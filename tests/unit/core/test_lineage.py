"""The configs that a trial trained with."""

import pytest

from overtone.core.decision import Restart
from overtone.core.lineage import Lineage
from overtone.core.types import Why
from overtone.testing.manual_controller import ByHand, Dictated


def lineage(cause):
    """Of a trial that was to restart, and whose process ended so."""
    hand = ByHand(
        Dictated({(0, 1): Restart({"x": 2}, None, Why("pbt"))}), limits={"total": 1, "max_failures": 1}
    )
    trial = hand.run({"x": 1})
    hand.report(trial, 1, saves=True)
    hand.ended(trial, cause)
    hand.started(trial)
    found = Lineage()
    for record in hand.records:
        found.apply(record)
    return found.schedule(trial), hand.trial(trial).config


@pytest.mark.parametrize("cause", ["halted", "killed", "lost"])
def test_a_restart_is_a_step(cause):
    assert lineage(cause) == (({"x": 1}, [(1, {"x": 2})]), {"x": 2})


def test_a_restart_before_which_the_trial_failed_is_none():
    assert lineage("raised") == (({"x": 1}, []), {"x": 1})
