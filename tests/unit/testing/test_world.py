"""The world carries commands out, is its seed's history, and notices what must not happen."""

from random import Random

import pytest

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.resources import Placement
from overtone.core.retention import Retention
from overtone.core.types import Checkpoint
from overtone.schedulers.asha import ASHAScheduler
from overtone.testing.manual_controller import Dictated
from overtone.testing.trial_life import Perils
from overtone.testing.world import World

ROUGH = Perils(0.1, 0.1, 0.1, 0.1, 0.5, 0.5, 2.0)


def world(seed=0, scheduler=None, total=4, perils=None, config=None, nodes=None, **limits):
    controller = Controller(
        scheduler or Dictated(),
        Goal("score", "max"),
        limits=Limits(total=total, **limits),
        retention=Retention(1),
    )
    made = World(
        controller, Random(seed), lambda index: {"score": index, **(config or {})},
        nodes or {"node": {"cpu": 2.0}}, perils,
    )  # fmt: skip
    return controller, made


def story(records):
    return [(record.n, record.event, record.choices) for record in records]


def test_a_calm_history():
    controller, calm = world(total=1, config={"length": 2, "pace_s": 3.0})
    kinds = [type(record.event).__name__ for record in calm.run()]
    assert kinds == ["CapacityChanged", "Suggested", "Started", "Reported", "Reported", "Discarded", "Ended"]
    (trial,) = controller.trials.values()
    assert (trial.n_results, trial.checkpoint) == (2, Checkpoint(trial.id, 2, f"{trial.id}/2"))
    assert calm.now == 9.0
    assert calm.kept == {f"{trial.id}/2"}
    assert calm.started == {(trial.id, 0): 0.0}


def test_a_seed_is_a_history():
    one, same, other = (
        story(world(seed, ASHAScheduler(max_t=3), 6, ROUGH, max_failures=1)[1].run()) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_messages_come_late_and_twice():
    _, rough = world(3, perils=Perils(repeated=1.0, latency_s=2.0))
    rough.run()
    assert rough.stale
    assert {type(event) for event in rough.stale} <= {m.Started, m.Reported, m.Ended}


def test_a_trial_that_cannot_save_parks_and_one_that_is_asked_to_saves():
    _, never = world(scheduler=Dictated({(0, 1): "PAUSE"}), total=1, config={"saves": "never"})
    assert "SaveFailed" in [type(record.event).__name__ for record in never.run()]
    _, asked = world(scheduler=Dictated({(0, 1): "PAUSE"}), total=1, config={"saves": "asked"})
    assert "Saved" in [type(record.event).__name__ for record in asked.run()]


def test_trials_on_a_node_that_goes_are_lost():
    controller, going = world(total=2, nodes={"a": {"cpu": 1}, "b": {"cpu": 1}})
    going.at(1.5, m.CapacityChanged(0.0, {"a": {"cpu": 1}}))
    lost = [record.event for record in going.run() if isinstance(record.event, m.Ended)]
    assert [event.cause for event in lost].count("lost") == 1
    assert [trial.failures for trial in controller.trials.values()] == [0, 0]


# --- what must not happen --------------------------------------------------------------


def test_what_does_not_fit_is_noticed():
    controller, wrong = world()
    controller._ledger.place = lambda owner, resources: Placement(("node",), ((),))
    with pytest.raises(AssertionError, match="3.0 of 2.0 cpu on node in use"):
        wrong.run()


def test_a_trial_that_is_started_twice_is_noticed():
    controller, wrong = world()
    wrong.step(), wrong.step()
    (start,) = [controller.trials[name] for name, _ in wrong.started]
    again = m.Start(start.id, 1, 0, {}, start.resources, Placement(("node",), ((),)))
    with pytest.raises(AssertionError, match="still runs"):
        wrong._carry_out(again)


def test_a_discard_of_what_is_needed_is_noticed():
    controller, wrong = world()
    controller._roster.unpin = lambda checkpoint: wrong._carry_out(m.Discard(checkpoint.uri))
    controller._roster.pin = lambda checkpoint: controller._roster.commands.append(m.Discard(checkpoint.uri))
    with pytest.raises(AssertionError, match="was discarded, but"):
        wrong.run()


def test_a_controller_that_is_stuck_is_noticed():
    controller, wrong = world(total=1)
    controller._rulings._proceed = lambda trial, t, save=False: None
    with pytest.raises(AssertionError, match="nothing will happen any more, but it is not done: .* RUNNING"):
        wrong.run()


def test_a_controller_that_never_ends_is_noticed():
    _, wrong = world(perils=Perils(raised=1.0), total=1, max_failures=-1)
    with pytest.raises(AssertionError, match="not done after 50 steps"):
        wrong.run(50)
