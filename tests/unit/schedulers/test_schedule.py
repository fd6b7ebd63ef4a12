"""Hyperparameters that change along training by rule."""

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.engines.inline import Inline
from overtone.engines.simulated import Simulated
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.schedule import Cosine, Exponential, HyperparameterSchedule, Linear, Steps
from overtone.testing.manual_controller import ByHand


def test_the_rules():
    assert [Exponential(0.5)(t, 8) for t in (0, 1, 3)] == [8, 4, 1]
    assert [Linear(0, over=4)(t, 8) for t in (0, 1, 4, 9)] == [8, 6, 0, 0]
    assert [Cosine(0, over=4)(t, 8) for t in (0, 2, 4, 9)] == [8, pytest.approx(4), 0, 0]
    assert [Steps({5: "b", 3: "a"})(t, "first") for t in (0, 3, 4, 5, 9)] == ["first", "a", "a", "b", "b"]


def test_params_change_in_place():
    hand = ByHand(HyperparameterSchedule({"lr": Linear(0, over=4)}), cpus=2)
    trial = hand.run({"lr": 8, "x": 1})
    assert hand.report(trial, 1, score=None) == [m.Proceed(trial, 0, 0.0, config={"lr": 6.0, "x": 1})]
    assert hand.choices[-1] == m.Ruled(trial, 1, "continue", config={"lr": 6.0, "x": 1})
    assert hand.trial(trial).config == {"lr": 6.0, "x": 1}
    hand.report(trial, 4)
    assert hand.report(trial, 5) == [m.Proceed(trial, 0, 0.0)]


def test_steps_let_the_trial_run_ahead():
    hand = ByHand(HyperparameterSchedule({"opt/lr": {3: 0.1, 6: 0.01}}), cpus=2)
    start = hand.suggest({"opt": {"lr": 1, "name": "sgd"}})[0]
    assert start.until_t == 3
    hand.started(start.trial_id)
    order = hand.report(start.trial_id, 3)[0]
    assert (order.until_t, order.config) == (6, {"opt": {"lr": 0.1, "name": "sgd"}})
    assert hand.report(start.trial_id, 6)[0].until_t == m.NEVER


def test_a_schedule_goes_on_after_a_failure():
    hand = ByHand(HyperparameterSchedule({"lr": Exponential(0.5)}), cpus=2, limits={"max_failures": 1})
    trial = hand.run({"lr": 8})
    hand.report(trial, 1, saves=True)
    hand.report(trial, 2)
    (start, *_) = (order for order in hand.ended(trial, "raised", "boom") if isinstance(order, m.Start))
    assert start.config == {"lr": 2}
    hand.started(trial)
    hand.report(trial, 2)
    assert hand.report(trial, 3)[0].config == {"lr": 1}


def test_the_other_scheduler_decides():
    asha = ASHAScheduler(max_t=9, reduction_factor=3)
    hand = ByHand(
        HyperparameterSchedule({"lr": Exponential(0.5)}, asha),
        cpus=3,
        goal=Goal("score", "max", is_needed=True),
    )
    one, other = hand.run({"lr": 8}), hand.run({"lr": 8})
    assert hand.report(one, 1, 2.0)[0].config == {"lr": 4}
    assert type(hand.report(other, 1, 1.0)[0]) is m.Halt
    hand.ended(other, "halted")
    assert hand.controller._scheduler.describe().startswith("Using AsyncHyperBand: num_stopped=1\nBracket")
    assert hand.controller._scheduler.describe().endswith("\nScheduled: lr")


def test_a_clone_is_scheduled_from_its_new_config():
    pbt = PopulationBasedTraining(
        "training_iteration",
        perturbation_interval=2,
        quantile_fraction=0.5,
        custom_explore_fn=lambda _: {"lr": 100},
    )
    goal = Goal("score", "max", is_needed=True)
    hand = ByHand(HyperparameterSchedule({"lr": Exponential(0.5)}, pbt), cpus=2, goal=goal)
    one, other = hand.run({"lr": 8}), hand.run({"lr": 8})
    hand.report(other, 2, 9.0, saves=True)
    hand.report(one, 2, 1.0)
    hand.ended(one, "halted")
    hand.started(one)
    assert hand.report(one, 3, 1.0)[0].config == {"lr": 12.5}


def test_what_is_not_in_the_config():
    hand = ByHand(HyperparameterSchedule({"momentum": Exponential(0.5)}), cpus=2)
    with pytest.raises(ValueError, match="'momentum' is scheduled, but the config has only 'lr'"):
        hand.suggest({"lr": 1})
    with pytest.raises(TypeError, match="lr=0.1: a schedule is a rule"):
        HyperparameterSchedule({"lr": 0.1})


# --- on engines ---------------------------------------------------------------------------


def train(tune):
    """The paper's handle: params are read anew at each report."""
    for _ in range(4):
        tune.report(lr_seen=tune.params["lr"])


def curve(config, t):
    return {"lr_seen": config["lr"]} if t <= 4 else None


@pytest.mark.parametrize(("trainable", "engine"), [(train, Inline), (curve, Simulated)])
def test_training_code_sees_it(trainable, engine, tmp_path):
    analysis = tune.run(
        trainable, config={"lr": 8}, scheduler=HyperparameterSchedule({"lr": Linear(0, over=4)}),
        engine=engine(), storage_path=str(tmp_path), verbose=0,
    )  # fmt: skip
    assert [one["lr_seen"] for one in analysis.trials[0].results()] == [8, 6, 4, 2]
    assert analysis.trials[0].config == {"lr": 0}


@pytest.mark.parametrize(
    ("schedules", "message"), [(["lr"], "give a dict"), ({"lr": {"a": 1}}, "'a' must be a number")]
)
def test_schedules_are_rules_by_name(schedules, message):
    with pytest.raises(TypeError, match=message):
        HyperparameterSchedule(schedules)
