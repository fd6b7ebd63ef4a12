"""What every scheduler must pass, and the search by its name."""

from better_half import BetterHalf

from overtone import tune
from overtone.testing.scheduler_conformance import SchedulerConformance


class TestBetterHalf(SchedulerConformance):
    def make_scheduler(self):
        return BetterHalf()


def test_it_is_found_by_its_name():
    assert isinstance(tune.create_scheduler("better_half", every=2), BetterHalf)
