"""The trial that hooks in Ray Tune's form are handed."""

from __future__ import annotations

from typing import Any

from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.trial import ShownStatuses, Status, Trial
from overtone.core.types import Config
from overtone.errors import ArgumentError

WAITING = (Status.PENDING, Status.PAUSED, Status.PARKED)
"""The statuses of a trial that may be chosen to run."""


class TuneTrial(ShownStatuses):
    """A trial under Ray Tune's names, and with the attributes of the core's trial.

    Args:
        native: The core's trial.
        controller: The `TuneController`.
    """

    def __init__(self, native: Trial, controller: Any) -> None:
        self.native = native
        self._controller = controller
        self._set: tuple[Status, str] | None = None  # A status that the scheduler set, and the real one then.

    @property
    def trial_id(self) -> str:
        """The id, such as "358bb_00006"."""
        return self.native.id

    @property
    def status(self) -> str:
        """The status, or what the scheduler set a waiting trial's status to."""
        if self._set is not None and self._set[0] is self.native.status:
            return self._set[1]
        return self.native.status.shown

    @status.setter
    def status(self, status: str) -> None:
        self.set_status(status)

    @property
    def experiment_tag(self) -> str:
        """The number and hyperparameters, such as "6_lr=0.01"."""
        return self.native.tag

    @property
    def evaluated_params(self) -> Config:
        """The config."""
        return dict(self.native.config)

    @property
    def last_result(self) -> dict[str, Any]:
        """The last reported metrics; empty before the first report."""
        facts: dict[str, Any] = self._controller.facts(self.native, self.native.last)
        return facts

    @property
    def is_saving(self) -> bool:
        """Whether the trial is about to pause or end."""
        return self.native.status is Status.HALTING

    @property
    def placement_group_factory(self) -> PlacementGroupFactory:
        """The resources, in bundles."""
        return PlacementGroupFactory.of(self.native.resources)

    def is_finished(self) -> bool:
        """Return whether the trial ended for good."""
        return self.native.status.is_final

    def has_checkpoint(self) -> bool:
        """Return whether the trial has a checkpoint."""
        return self.native.checkpoint is not None

    def set_status(self, status: str) -> None:
        """Mark a waiting trial as PENDING or PAUSED, for the scheduler's own use.

        Raises:
            ArgumentError: The controller alone sets any other status.
        """
        if self.native.status not in WAITING or status not in (self.PENDING, self.PAUSED):
            raise ArgumentError(
                f"trial {self.trial_id} is {self.status} and cannot be set to {status}: call stop_trial or "
                "pause_trial of the controller, or return a flag"
            )
        self._set = self.native.status, status

    def set_config(self, config: Config) -> None:
        """Let the trial go on with `config` once it is paused, or before it starts again."""
        self._controller.configure(self, config)

    def set_experiment_tag(self, tag: str) -> None:
        """Do nothing: the tag names the trial's first config."""

    def __getattr__(self, name: str) -> Any:
        if name in ("native", "_controller"):  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.native, name)

    def __eq__(self, other: object) -> bool:
        return getattr(other, "native", other) is self.native

    def __hash__(self) -> int:
        return hash(self.native.id)

    def __repr__(self) -> str:
        return self.trial_id
