"""Stoppers: end trials and whole experiments by their results."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.stoppers.adapter": "Adapter",
    "overtone.stoppers.combined": "CombinedStopper",
    "overtone.stoppers.criteria": "Criteria",
    "overtone.stoppers.experiment_plateau": "ExperimentPlateauStopper",
    "overtone.stoppers.function": "FunctionStopper",
    "overtone.stoppers.iterations": "MaximumIterationStopper",
    "overtone.stoppers.noop": "NoopStopper",
    "overtone.stoppers.stopper": "Stopper",
    "overtone.stoppers.timeout": "TimeoutStopper",
    "overtone.stoppers.translate": "stop time_budget_s",
    "overtone.stoppers.trial_plateau": "TrialPlateauStopper",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.stoppers.adapter import Adapter as Adapter
    from overtone.stoppers.combined import CombinedStopper as CombinedStopper
    from overtone.stoppers.criteria import Criteria as Criteria
    from overtone.stoppers.experiment_plateau import ExperimentPlateauStopper as ExperimentPlateauStopper
    from overtone.stoppers.function import FunctionStopper as FunctionStopper
    from overtone.stoppers.iterations import MaximumIterationStopper as MaximumIterationStopper
    from overtone.stoppers.noop import NoopStopper as NoopStopper
    from overtone.stoppers.stopper import Stopper as Stopper
    from overtone.stoppers.timeout import TimeoutStopper as TimeoutStopper
    from overtone.stoppers.translate import stop as stop
    from overtone.stoppers.translate import time_budget_s as time_budget_s
    from overtone.stoppers.trial_plateau import TrialPlateauStopper as TrialPlateauStopper

__getattr__, __dir__ = attach(__name__, _NAMES)
