"""What ends trials, besides the trials themselves."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.core.limits import TrialLimits
from overtone.core.protocols import TrialScheduler
from overtone.run.jobs import is_bounded
from overtone.stoppers import MaximumIterationStopper, NoopStopper, stop
from overtone.tune.schedulers import (
    ASHAScheduler,
    FIFOScheduler,
    HyperBandScheduler,
    MedianStoppingRule,
    PopulationBasedTraining,
    ResourceChangingScheduler,
)


class Own(TrialScheduler):
    def on_result(self, trial: Any, result: Any) -> Any: ...


@pytest.mark.parametrize(
    ("scheduler", "spec", "expected"),
    [
        (FIFOScheduler(), None, False),
        (FIFOScheduler(), {}, False),
        (FIFOScheduler(), NoopStopper(), False),
        (FIFOScheduler(), {"loss": 0.1}, True),
        (FIFOScheduler(), lambda trial_id, result: False, True),
        (FIFOScheduler(), [NoopStopper(), MaximumIterationStopper(3)], True),
        (MedianStoppingRule(), None, False),
        (PopulationBasedTraining(hyperparam_mutations={"lr": [1, 2]}), None, False),
        (ASHAScheduler(), None, True),
        (ASHAScheduler(max_t=9, stop_last_trials=False), None, False),
        (HyperBandScheduler(), None, True),
        (ResourceChangingScheduler(), None, False),
        (ResourceChangingScheduler(ASHAScheduler()), None, True),
        (Own(), None, True),
    ],
)
def test_bounds(scheduler: TrialScheduler, spec: Any, expected: bool) -> None:
    assert is_bounded(scheduler, stop(spec), None, None) is expected


def test_a_limit_on_time_is_a_bound() -> None:
    assert is_bounded(FIFOScheduler(), [], 60.0, None)
    assert is_bounded(FIFOScheduler(), [], None, TrialLimits(time_s=60.0))
    assert not is_bounded(FIFOScheduler(), [], None, TrialLimits())


def test_a_users_child_of_a_scheduler_that_ends_nothing_may_end_trials() -> None:
    class Ends(FIFOScheduler):
        def on_result(self, trial: Any, result: Any) -> Any: ...

    class Described(FIFOScheduler):
        def describe(self) -> str:
            return "mine"

    assert is_bounded(Ends(), [], None, None)
    assert not is_bounded(Described(), [], None, None)
