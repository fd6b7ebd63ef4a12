"""Overtone as a backend of Transformers: `trainer.hyperparameter_search(space, backend=OVERTONE, ...)`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.space.dsl import choice, loguniform, randint
from overtone.tune.integration.transformers import TuneReportCallback
from overtone.tune.session import get_checkpoint, get_context, get_trial_id
from overtone.tune.trainable import with_parameters
from overtone.tune.tune import run

try:
    from transformers.hyperparameter_search import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        ALL_HYPERPARAMETER_SEARCH_BACKENDS,
        HyperParamSearchBackendBase,
    )
    from transformers.trainer_utils import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        BestRun,
        HPSearchBackend,
    )
except ImportError as error:
    raise MissingPackageError("transformers", "", "overtone.tune.integration.transformers_search") from error

OBJECTIVE = "objective"
_MODES = {"minimize": "min", "maximize": "max"}


class OvertoneBackend(HyperParamSearchBackendBase):  # type: ignore[misc,unused-ignore]
    """The backend that `hyperparameter_search` makes of `OVERTONE`."""

    name = "overtone"

    @staticmethod
    def is_available() -> bool:
        """Return True."""
        return True

    def default_hp_space(self, trial: Any) -> dict[str, Any]:
        """Return a space of four arguments of training."""
        return {
            "learning_rate": loguniform(1e-6, 1e-4),
            "num_train_epochs": randint(1, 6),
            "seed": randint(1, 41),
            "per_device_train_batch_size": choice([4, 8, 16, 32, 64]),
        }

    def run(self, trainer: Any, n_trials: int, direction: str | Sequence[str], **arguments: Any) -> Any:
        """Search, and return the best run; for several objectives, a list of those that none surpasses.

        Args:
            trainer: The Trainer, with its space, objective and model from `hyperparameter_search`.
            n_trials: Number of trials.
            direction: "minimize" or "maximize", or one of these for each objective.
            arguments: Further arguments of `tune.run`.

        Raises:
            ArgumentError: `direction` is something else.
        """
        directions = [direction] if isinstance(direction, str) else list(direction)
        if not directions or not set(directions) <= _MODES.keys():
            raise ArgumentError(f'direction={direction!r}: must be "minimize", "maximize" or a list of these')
        names = (
            [OBJECTIVE]
            if isinstance(direction, str)
            else [f"{OBJECTIVE}_{i}" for i in range(len(directions))]
        )
        if trainer.args.n_gpu:
            arguments.setdefault("resources_per_trial", {"cpu": 1, "gpu": 1})
        own = {name: getattr(trainer, name, None) for name in _OF_ONE_PROCESS}
        for name in own:
            setattr(trainer, name, None)
        try:
            analysis = run(
                with_parameters(train, trainer=trainer, names=names),
                config=trainer.hp_space(None),
                num_samples=n_trials,
                metric=names if len(names) > 1 else names[0],
                mode=[_MODES[one] for one in directions] if len(names) > 1 else _MODES[directions[0]],
                **arguments,
            )
        finally:
            for name, value in own.items():
                setattr(trainer, name, value)
        if isinstance(direction, str):
            return _run_of(analysis.best_trial, names, analysis)
        return [_run_of(trial, names, analysis) for trial in analysis.pareto_front()]


def _member() -> Any:
    """Return a member of the enum of backends beside its own, which are looked up by identity or name."""
    member = str.__new__(HPSearchBackend, OvertoneBackend.name)
    member._name_, member._value_ = OvertoneBackend.name.upper(), OvertoneBackend.name
    return member


OVERTONE = _member()
"""What to give as `backend`: the Trainer accepts members of its enum alone."""

ALL_HYPERPARAMETER_SEARCH_BACKENDS[OVERTONE] = OvertoneBackend


_OF_ONE_PROCESS = ("model", "model_wrapped", "accelerator", "gather_function", "hp_search_backend")
"""Attributes of a Trainer that its copies in trials make anew."""


class _ReportObjectives(TuneReportCallback):
    """Reports each evaluation with its objectives, and trains at the trial's own learning rate."""

    def __init__(self, trainer: Any, names: Sequence[str], config: Mapping[str, Any]) -> None:
        super().__init__()
        self._trainer, self._names, self._config = trainer, names, config

    def on_train_begin(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        # a checkpoint restores its learning rate, which is another trial's after an exploit
        if "learning_rate" in self._config:
            rescale(parts["optimizer"], parts["lr_scheduler"], args.learning_rate)

    def reported(self, metrics: dict[str, Any]) -> dict[str, Any]:
        value = self._trainer.compute_objective(dict(metrics))
        values = [value] if len(self._names) == 1 else list(value)
        return {**super().reported(metrics), **dict(zip(self._names, values, strict=True))}


def rescale(optimizer: Any, lr_scheduler: Any, learning_rate: float) -> None:
    """Continue a schedule at its present position, with another learning rate as its base.

    Args:
        optimizer: The optimizer of `lr_scheduler`; modified in place.
        lr_scheduler: The schedule, modified in place; unchanged if its parameter groups have different bases.
        learning_rate: The new base of all parameter groups.
    """
    bases = getattr(lr_scheduler, "base_lrs", [])
    if len(set(bases)) != 1 or bases[0] in (0, learning_rate):
        return
    for group in optimizer.param_groups:
        group["lr"] *= learning_rate / bases[0]
        group["initial_lr"] = learning_rate
    lr_scheduler.base_lrs = [learning_rate] * len(bases)


def train(config: dict[str, Any], trainer: Any, names: Sequence[str]) -> None:
    """Train in a trial.

    Args:
        config: The trial's values of arguments of training.
        trainer: A copy of the Trainer.
        names: The names of the objectives.
    """
    folder = trainer.hp_name(config) if trainer.hp_name else f"run-{get_trial_id()}"
    # the Trainer's own way to change its arguments: it wants the trial as the Ray backend has it
    trainer.hp_search_backend = HPSearchBackend.RAY
    trainer._hp_search_setup(dict(config))
    trainer.hp_search_backend = None
    trainer.args.output_dir = os.path.join(trainer.args.output_dir, folder)
    trainer.add_callback(_ReportObjectives(trainer, names, config))
    checkpoint = get_checkpoint()
    trainer.train(resume_from_checkpoint=checkpoint and checkpoint.path, trial=config)
    if not get_context().iteration:  # no evaluation was asked for
        trainer.evaluate()


def _run_of(trial: Any, names: Sequence[str], analysis: Any) -> Any:
    values = [trial.last_result[name] for name in names]
    return BestRun(trial.trial_id, values[0] if len(values) == 1 else values, trial.config, analysis)
