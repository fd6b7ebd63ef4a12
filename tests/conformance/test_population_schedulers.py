"""Populations, schedules, resizing and auto against the contract of schedulers."""

import pytest

from overtone import tune
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.auto import AutoScheduler
from overtone.schedulers.dehb import DEHB
from overtone.schedulers.pb2 import PB2
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.priorband import PriorBand
from overtone.schedulers.resize import DistributeResourcesToTopJob, ResourceChangingScheduler
from overtone.schedulers.schedule import HyperparameterSchedule
from overtone.testing.scheduler_conformance import SchedulerConformance


def pbt(synch):
    return PopulationBasedTraining(
        "training_iteration",
        perturbation_interval=3,
        synch=synch,
        hyperparam_mutations={"lr": tune.uniform(0, 1)},
    )


class TestPBT(SchedulerConformance):
    def make_scheduler(self):
        return pbt(synch=False)


class TestPBTInStep(SchedulerConformance):
    def make_scheduler(self):
        return pbt(synch=True)


class TestPB2(SchedulerConformance):
    kills = 3

    def make_scheduler(self):
        return PB2("training_iteration", perturbation_interval=4, hyperparam_bounds={"lr": [0, 1]})


class TestDEHB(SchedulerConformance):
    def make_scheduler(self):
        return DEHB(max_t=9)


class TestPriorBand(SchedulerConformance):
    def make_scheduler(self):
        return PriorBand(max_t=9)


class TestAuto(SchedulerConformance):
    def make_scheduler(self):
        return AutoScheduler()


class TestResourceChanging(SchedulerConformance):
    def make_scheduler(self):
        return ResourceChangingScheduler(
            ASHAScheduler(max_t=9, reduction_factor=2), DistributeResourcesToTopJob()
        )


class TestResourceChangingPBT(SchedulerConformance):
    def make_scheduler(self):
        return ResourceChangingScheduler(pbt(synch=True))


class TestSchedule(SchedulerConformance):
    def make_scheduler(self):
        return HyperparameterSchedule({"x": {4: 0, 8: 1}}, ASHAScheduler(max_t=9, reduction_factor=2))


@pytest.mark.parametrize(
    "scheduler", ["auto", "pb2", "pbt", "dehb", "priorband", "resource_changing", "pbt_replay"]
)
def test_they_are_known_by_name(scheduler):
    given = {
        "pb2": {"hyperparam_bounds": {"lr": [0, 1]}},
        "pbt": {"custom_explore_fn": dict},
        "pbt_replay": {"policy_file": "x"},
    }
    assert tune.create_scheduler(scheduler, **given.get(scheduler, {}))
