"""Arguments that make no sense are told where a scheduler is made."""

import inspect
import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from overtone.errors import OvertoneError
from overtone.journal.header import described
from overtone.schedulers.arguments import ALLOWED, checked
from overtone.tune import schedulers

NEEDED = {
    "PopulationBasedTraining": {"hyperparam_mutations": {"lr": [1, 2]}},
    "PB2": {"hyperparam_bounds": {"lr": [0.0, 1.0]}},
    "PopulationBasedTrainingReplay": {"policy_file": "policy.txt"},
    "HyperparameterSchedule": {"schedules": {}},
    "Exponential": {"rate": 0.9},
    "Linear": {"last": 0.0, "over": 9},
    "Cosine": {"last": 0.0, "over": 9},
    "Steps": {"values": {}},
}
NO_SCHEDULERS = {"Add", "Continue", "Pause", "Restart", "Save", "Stop", "Why", "TrialScheduler"}
KINDS = {
    name: kind for name in schedulers.__all__
    if isinstance(kind := getattr(schedulers, name), type) and name not in NO_SCHEDULERS
}  # fmt: skip
OWN_RULES = {"hyperparam_mutations", "hyperparam_bounds", "schedules", "values", "base_scheduler",
             "resources_allocation_function"}  # fmt: skip
NUMBERS = [name for name, allowed in ALLOWED.items() if "number" in allowed.text]
CASES = [
    (kind, name) for kind in KINDS for name in inspect.signature(KINDS[kind]).parameters
    if name not in ("args", "kwargs")
]  # fmt: skip


def made(kind, **arguments):
    return KINDS[kind](**{**NEEDED.get(kind, {}), **arguments})


def test_every_scheduler_is_looked_at():
    assert {"ASHAScheduler", "MedianStoppingRule", "PB2", "DEHB", "MOASHA", "AutoScheduler"} <= KINDS.keys()


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_what_no_argument_may_be(kind, name):
    default = inspect.signature(KINDS[kind]).parameters[name].default
    for wrong in ("", object(), *([None] if default is not None else [])):
        with pytest.raises((TypeError, ValueError, OvertoneError), match="give|nothing to explore"):
            made(kind, **{name: wrong})


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name in CASES if name in NUMBERS])
def test_what_no_number_may_be(kind, name):
    who = KINDS[kind].__name__
    for wrong in ("60", math.nan, -math.inf, True, [math.nan], 1j):
        with pytest.raises((TypeError, ValueError), match=rf"{who}: {name}=.*: give (a number|a whole|num)"):
            made(kind, **{name: wrong})


def test_each_argument_has_rules():
    assert {name for _, name in CASES} == ALLOWED.keys() | OWN_RULES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grace_period": "60"}, "MedianStoppingRule: grace_period='60': give a number, 0 or more"),
        ({"grace_period": -1}, "grace_period=-1: give a number, 0 or more"),
        ({"min_samples_required": 2.5}, "min_samples_required=2.5: give a whole number, 0 or more"),
        ({"hard_stop": "no"}, "hard_stop='no': give True or False"),
        ({"mode": "maximum"}, 'mode=\'maximum\': give "max" or "min"'),
        ({"mode": ["min", "down"]}, "mode=\\['min', 'down'\\]: give \"max\" or \"min\""),
        ({"metric": 3}, "metric=3: give the name of a metric, or a list of names"),
        ({"time_attr": None}, 'time_attr=None: give the name of a metric, such as "training_iteration"'),
    ],
)
def test_what_was_given_and_what_may_be(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        schedulers.MedianStoppingRule(**arguments)


def test_arguments_by_place_are_checked_too():
    with pytest.raises(TypeError, match="metric=5"):
        schedulers.ASHAScheduler("t", 5)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'policy_file'"):
        schedulers.PopulationBasedTrainingReplay()
    with pytest.raises(TypeError, match="has no argument 'grace'; did you mean 'grace_period'"):
        schedulers.ASHAScheduler(grace=5)


def test_numbers_of_all_kinds_are_taken_and_become_plain():
    rule = schedulers.MedianStoppingRule(
        grace_period=np.float32(1.5), min_samples_required=np.int64(1), hard_stop=np.bool_(False)
    )
    assert repr((rule.rules_from, rule._needs, rule._is_hard)) == "(1.5, 1, False)"
    asha = schedulers.ASHAScheduler(max_t=Fraction(27, 2), reduction_factor=np.float64(2.5))
    assert repr((asha._end, asha.bracket_draw.factor)) == "(13.5, 2.5)"
    schedulers.PopulationBasedTrainingReplay(Path("policy.txt"))
    with pytest.raises(TypeError, match=r"FIFOScheduler\(\) takes no arguments"):
        schedulers.FIFOScheduler(max_t=9)


@checked
class Mine:
    def __init__(self, max_t, what=3):
        self.max_t, self.what = max_t, what


class Child(Mine):
    def __init__(self, max_t):  # its own: a text
        super().__init__(int(max_t))


def test_a_child_may_take_what_it_likes_and_pass_on_what_may_be():
    assert Child("9").max_t == 9
    with pytest.raises(ValueError, match="Child: max_t=-9: give a number above 0"):
        Child("-9")
    assert Mine(9, what="anything").what == "anything"


def test_what_is_checked_stays_what_it_is():
    scheduler = schedulers.ASHAScheduler("t", max_t=9)
    assert list(inspect.signature(schedulers.ASHAScheduler).parameters)[:2] == ["time_attr", "metric"]
    assert type(pickle.loads(pickle.dumps(scheduler))) is schedulers.ASHAScheduler
    assert described(scheduler)
