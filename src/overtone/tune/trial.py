"""Trials under the names that scripts expect.

`Trial` is the class of `analysis.trials`, for `isinstance` and `Trial.ERROR`. It is imported when it is
first used: a run begins without it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.trial import ShownStatuses
from overtone.errors import ArgumentError
from overtone.observers.columns import chosen

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial

    Trial = RecordedTrial


def __getattr__(name: str) -> Any:
    if name == "Trial":
        from overtone.analysis import RecordedTrial

        return RecordedTrial
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ExportFormat:
    """Values of `export_formats`: the formats that a class trainable's `_export_model` is asked for."""

    CHECKPOINT = "checkpoint"
    MODEL = "model"
    ONNX = "onnx"
    H5 = "h5"

    @classmethod
    def validate(cls, formats: list[str]) -> None:
        """Normalise the formats in place: lower case, without blanks.

        Raises:
            ArgumentError: One of them is unknown.
        """
        known = (cls.CHECKPOINT, cls.MODEL, cls.ONNX, cls.H5)
        for place, given in enumerate(formats):
            formats[place] = given.strip().lower()
            if formats[place] not in known:
                raise ArgumentError(f"export format {given!r}: must be one of {', '.join(map(repr, known))}")


class AddedTrial(ShownStatuses):
    """The trial that `trial_name_creator` and the like get: a view of a core trial, with all its attributes.

    Args:
        trial: The core trial.
        trainable_name: See the attribute.
        parameters: The paths that the search chooses; None for all of a config.

    Attributes:
        trainable_name: The name of the trainable.
    """

    def __init__(self, trial: Any, trainable_name: str, parameters: Sequence[str] | None = None) -> None:
        self._trial = trial
        self._parameters = parameters
        self.trainable_name = trainable_name

    @property
    def trial_id(self) -> str:
        """The trial's id, such as "358bb_00006"."""
        return str(self._trial.id)

    @property
    def experiment_tag(self) -> str:
        """The trial's number and hyperparameters, such as "6_lr=0.01"."""
        return str(self._trial.tag)

    @property
    def evaluated_params(self) -> dict[str, Any]:
        """The values that the search chose, by path ("optimizer/lr")."""
        return chosen(self._trial.config, self._parameters)

    @property
    def placement_group_factory(self) -> PlacementGroupFactory:
        """The requested resources as a placement group."""
        return PlacementGroupFactory.of(self._trial.resources)

    @property
    def last_result(self) -> dict[str, Any]:
        """The last reported metrics; empty before the first report."""
        return dict(self._trial.last.metrics) if self._trial.last else {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trial, name)

    def __str__(self) -> str:
        return f"{self.trainable_name}_{self.trial_id}"


def with_shown_trial(
    function: Callable[[Any], str] | None, trainable_name: str, space: Any = None
) -> Callable[[Any], str] | None:
    """Wrap `function` of an `AddedTrial` as a function of a core trial.

    Args:
        function: The function; None for none.
        trainable_name: The name of the trainable.
        space: The space of the trials' configs, if it is not the searcher's own.
    """
    if not callable(function):
        return function  # None, or what the check of the options refuses
    paths: list[tuple[str, ...] | None] = []

    def parameters() -> tuple[str, ...] | None:
        if not paths:
            from overtone.space import variables

            paths.append(tuple(variables(space)) or None if isinstance(space, Mapping) else None)
        return paths[0]

    @functools.wraps(function)  # keep the name under which the function is recorded
    def shown(trial: Any) -> str:
        if not isinstance(trial, AddedTrial):
            trial = AddedTrial(trial, trainable_name, parameters())
        return str(function(trial))

    return shown
