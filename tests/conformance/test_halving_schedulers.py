"""Every halving or stopping scheduler against the contract of schedulers."""

from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.bohb import HyperBandForBOHB
from overtone.schedulers.fifo import FIFOScheduler
from overtone.schedulers.hyperband import HyperBandScheduler
from overtone.schedulers.median import MedianStoppingRule
from overtone.schedulers.moasha import MOASHA
from overtone.schedulers.pasha import PASHA
from overtone.schedulers.successive_halving import SuccessiveHalving
from overtone.testing.scheduler_conformance import SchedulerConformance


class TestFIFO(SchedulerConformance):
    def make_scheduler(self):
        return FIFOScheduler()


class TestASHAStop(SchedulerConformance):
    def make_scheduler(self):
        return ASHAScheduler(max_t=9, reduction_factor=2, brackets=2)


class TestASHAPromote(SchedulerConformance):
    def make_scheduler(self):
        return ASHAScheduler(max_t=9, reduction_factor=3, rule="promote", brackets=2)


class TestASHAPromoteOn(SchedulerConformance):
    def make_scheduler(self):
        return ASHAScheduler(max_t=9, reduction_factor=2, rule="promote", stop_last_trials=False)


class TestHyperBand(SchedulerConformance):
    def make_scheduler(self):
        return HyperBandScheduler(max_t=9)


class TestHyperBandTable(SchedulerConformance):
    def make_scheduler(self):
        return HyperBandScheduler(max_t=4, reduction_factor=2, sizes="table", stop_last_trials=False)


class TestHyperBandForBOHB(SchedulerConformance):
    def make_scheduler(self):
        return HyperBandForBOHB(max_t=9)


class TestSuccessiveHalving(SchedulerConformance):
    def make_scheduler(self):
        return SuccessiveHalving(max_t=8, reduction_factor=2, n=4)


class TestMedian(SchedulerConformance):
    def make_scheduler(self):
        return MedianStoppingRule("training_iteration", grace_period=2, min_samples_required=2)


class TestMedianPausing(SchedulerConformance):
    def make_scheduler(self):
        return MedianStoppingRule(
            "training_iteration", grace_period=1, min_time_slice=2, min_samples_required=4, hard_stop=False
        )


class TestPASHA(SchedulerConformance):
    def make_scheduler(self):
        return PASHA(max_t=9, reduction_factor=2)


class TestMOASHA(SchedulerConformance):
    objectives = ("score", "other")

    def make_scheduler(self):
        return MOASHA(max_t=9, reduction_factor=2, brackets=2)
