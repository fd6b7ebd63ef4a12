"""The halving and stopping schedulers, killed and resumed at every single event."""

import pytest

from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.auto import AutoScheduler
from overtone.schedulers.hyperband import HyperBandScheduler
from overtone.schedulers.median import MedianStoppingRule
from overtone.schedulers.moasha import MOASHA
from overtone.schedulers.pasha import PASHA
from overtone.schedulers.successive_halving import SuccessiveHalving
from overtone.testing.scheduler_conformance import SchedulerConformance

MAKE = {
    "auto": AutoScheduler,
    "stop": lambda: ASHAScheduler(max_t=9, reduction_factor=2, brackets=2),
    "promote": lambda: ASHAScheduler(max_t=9, reduction_factor=3, rule="promote", brackets=2),
    "hyperband": lambda: HyperBandScheduler(max_t=9),
    "halving": lambda: SuccessiveHalving(max_t=8, reduction_factor=2, n=4),
    "median": lambda: MedianStoppingRule("training_iteration", grace_period=2, min_samples_required=2),
    "pasha": lambda: PASHA(max_t=9, reduction_factor=2),
    "moasha": lambda: MOASHA(max_t=9, reduction_factor=2),
}


@pytest.mark.parametrize("name", MAKE)
def test_killed_at_every_event(name):
    class Suite(SchedulerConformance):
        kills = None

        def make_scheduler(self):
            return MAKE[name]()

    Suite().test_it_survives_that_its_driver_is_killed()
