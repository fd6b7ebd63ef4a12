"""The view for a user's function that allocates resources, under Ray Tune's names, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.decision import Decision
from overtone.core.messages import NEVER
from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.resources import Resources
from overtone.core.scheduler_view import View
from overtone.core.types import Result
from overtone.errors import UsageError
from overtone.schedulers.tune_controller import TuneController
from overtone.schedulers.tune_trial import TuneTrial


class AllocationView(TuneController):
    """The attributes of a `View`, and the methods of a controller that do not order anything."""

    def __init__(self, view: View) -> None:
        super().__init__(view, "resources_allocation_function")

    def get_trials(self) -> list[TuneTrial]:
        """Return all trials, in the order of creation."""
        return [TuneTrial(one, self) for one in self.view.trials.values()]

    def get_live_trials(self) -> set[TuneTrial]:
        """Return the trials that have not ended."""
        return {TuneTrial(one, self) for one in self.view.live()}

    def get_trial(self, tid: str) -> TuneTrial | None:
        """Return the trial with this id; None if there is none."""
        native = self.view.trials.get(tid)
        return None if native is None else TuneTrial(native, self)

    @property
    def _resource_updater(self) -> AllocationView:
        return self

    def get_num_cpus(self) -> float:
        """Return the CPUs of all nodes."""
        return self.view.total.get("cpu", 0.0)

    def get_num_gpus(self) -> float:
        """Return the GPUs of all nodes."""
        return self.view.total.get("gpu", 0.0)

    def order(self, trial: TuneTrial, decision: Decision) -> None:
        """Refuse: an allocation function returns resources.

        Raises:
            UsageError: Always.
        """
        raise UsageError(
            f"resources_allocation_function: it may not stop, pause or save trial {trial.trial_id}; return "
            "the trial's resources, or None, and let the base_scheduler decide"
        )

    def __getattr__(self, name: str) -> Any:
        if name == "view":  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.view, name)


class AllocationHooks:
    """The hooks of Ray Tune's form that subclasses of `ResourceChangingScheduler` may override."""

    def allocated(self, view: AllocationView, trial: TuneTrial, result: Result) -> Any:
        """Return what the allocation function wants for a trial; None for no change."""
        raise NotImplementedError

    def reallocate_trial_resources_if_needed(
        self, tune_controller: AllocationView, trial: TuneTrial, result: Result
    ) -> Any:
        """Return the resources that `trial` should have after a result; None for no change.

        Called after each result of a trial that continues.

        Args:
            tune_controller: The first argument of the allocation function.
            trial: The trial.
            result: The newest result of `trial`.
        """
        return self.allocated(tune_controller, trial, result)

    def set_trial_resources(self, trial: TuneTrial, new_resources: PlacementGroupFactory) -> bool:
        """Return whether `trial` gets `new_resources`, which differ from its present resources.

        Called when the trial has a checkpoint to continue from. If it returns False, the trial stays as
        it is.
        """
        return True


def whole_units(amounts: Mapping[str, float], unit: Mapping[str, float]) -> int:
    """Return the number of whole units in the amounts."""
    return int(min((amounts[name] / amount + 1e-9 for name, amount in unit.items()), default=NEVER) // 1)


def as_resources(wanted: Any) -> Resources:
    """Return the demand as Resources; users may give amounts or a placement group."""
    if isinstance(wanted, Resources):
        return Resources(wanted.bundles, wanted.strategy)
    return Resources.of(wanted)
