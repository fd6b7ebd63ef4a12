"""Schedulers that were derived from ours in Ray Tune's form, against the contract of schedulers."""

from overtone.schedulers.adapter import Adapter
from overtone.testing.scheduler_conformance import SchedulerConformance
from overtone.tune.schedulers import AsyncHyperBandScheduler, HyperBandScheduler, PopulationBasedTraining


class Named(AsyncHyperBandScheduler):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.names = []

    def on_trial_add(self, tune_controller, trial):
        self.names.append(trial.trial_id)
        super().on_trial_add(tune_controller, trial)

    def on_trial_result(self, tune_controller, trial, result):
        return super().on_trial_result(tune_controller, trial, result)

    def on_trial_complete(self, tune_controller, trial, result):
        super().on_trial_complete(tune_controller, trial, result)


class Halved(HyperBandScheduler):
    def choose_trial_to_run(self, tune_controller):
        return super().choose_trial_to_run(tune_controller)


class Population(PopulationBasedTraining):
    def on_trial_result(self, tune_controller, trial, result):
        return super().on_trial_result(tune_controller, trial, dict(result))


class TestNamed(SchedulerConformance):
    def make_scheduler(self):
        return Adapter(Named(max_t=9, reduction_factor=2))


class TestNamedPromotes(SchedulerConformance):
    def make_scheduler(self):
        return Adapter(Named(max_t=9, reduction_factor=2, rule="promote"))


class TestHalved(SchedulerConformance):
    def make_scheduler(self):
        return Adapter(Halved(max_t=9))


class TestPopulation(SchedulerConformance):
    def make_scheduler(self):
        mutations = {"pace_s": [1.0, 2.0]}
        return Adapter(
            Population("training_iteration", perturbation_interval=3, hyperparam_mutations=mutations)
        )
