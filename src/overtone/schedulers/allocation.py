"""What a user's function that allocates resources is handed: the view, under Ray Tune's names, too."""

from __future__ import annotations

from typing import Any

from overtone.core.decision import Decision
from overtone.core.scheduler_view import View
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
