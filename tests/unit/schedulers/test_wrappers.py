"""Schedulers around another one pass on all that it declares."""

import pytest

from overtone.core.protocols import TrialScheduler
from overtone.schedulers.fifo import FIFOScheduler
from overtone.schedulers.hyperband import HyperBandScheduler
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.resize import ResourceChangingScheduler
from overtone.schedulers.schedule import HyperparameterSchedule

MAKERS = {
    HyperparameterSchedule: lambda base: HyperparameterSchedule({"lr": {3: 0.1}}, base),
    ResourceChangingScheduler: ResourceChangingScheduler,
}
OWN = {"rules_from", "rules_anywhere", "shown"}
OWN |= {"log_config"}  # a file of a population's changes would show resizes, too


@pytest.mark.parametrize("kind", MAKERS)
def test_each_method_is_passed_on(kind):
    declared = {name for name, one in vars(TrialScheduler).items() if callable(one) and name[0] != "_"}
    assert declared <= vars(kind).keys()


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    "base",
    [
        FIFOScheduler(),
        HyperBandScheduler(time_attr="epoch", metric="loss", mode="min"),
        PopulationBasedTraining(hyperparam_mutations={"lr": [1, 2]}),
    ],
    ids=lambda base: type(base).__name__,
)
def test_each_attribute_is_passed_on(kind, base):
    around = MAKERS[kind](base)
    names = TrialScheduler.__annotations__.keys() - OWN - {"pauses"}
    assert {name: getattr(around, name) for name in names} == {name: getattr(base, name) for name in names}
    assert around.pauses is (
        base.pauses or isinstance(around, ResourceChangingScheduler)
    )  # It restarts trials.


@pytest.mark.parametrize("make", MAKERS.values())
def test_the_space_is_completed_for_the_inner_scheduler(make):
    base = PopulationBasedTraining(hyperparam_mutations={"lr": [1, 2]})
    assert make(base).complete({"x": 1}, None).keys() == {"x", "lr"}
