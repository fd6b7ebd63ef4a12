"""Trials that train an operator: the class that `TorchTrainer.as_trainable` returns."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from overtone.core.resources import Resources
from overtone.train.torch.operators.meters import PROFILE
from overtone.train.torch.operators.worker_resources import check_number, is_gpu_used, resources_of
from overtone.worker.trainables.demand import worker_range
from overtone.worker.trainables.trainable import Trainable

CHECKPOINT = "trainer.checkpoint"
FROM_CONFIG = ("num_workers", "num_cpus_per_worker", "use_gpu")
"""Arguments of the trainer that a trial's config may set."""


class OperatorTrainable(Trainable):
    """A trial that trains an epoch, and validates, per iteration.

    Attributes:
        trainer: The trial's trainer.
    """

    counts_resources = True
    trainer: Any = None
    _trainer_class: type[Any]
    _arguments: Mapping[str, Any]
    _tune_step: Callable[[Any, dict[str, Any]], Any] | None

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> Resources:
        """Return 1 CPU for the head, and a bundle for each worker."""
        arguments = cls._arguments_for(config)
        num_workers = arguments.get("num_workers", 1)
        smallest, _ = worker_range(num_workers)
        check_number(smallest)
        is_local = bool(arguments.get("use_local")) and num_workers == 1
        has_gpu = is_gpu_used(arguments.get("use_gpu", "auto"), smallest)
        return resources_of(num_workers, arguments.get("num_cpus_per_worker", 1), has_gpu, is_local)

    @classmethod
    def resource_help(cls, config: dict[str, Any]) -> str:
        """Return how a trial's resources are chosen."""
        return (
            "its trials take 1 CPU and a bundle for each worker: set num_workers, num_cpus_per_worker and "
            "use_gpu "
            "in as_trainable(...) or in the trial's config"
        )

    @classmethod
    def _arguments_for(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the trainer's arguments for a trial; nothing in them is shared between trials."""
        own = {name: config[name] for name in FROM_CONFIG if name in config}
        shared = _copied(cls._arguments.get("config") or {})
        return {**cls._arguments, **own, "config": {**shared, **_copied(config)}}

    def setup(self, config: dict[str, Any]) -> None:
        """Start the workers: as many as the trial has bundles for, which a scheduler may have changed."""
        arguments = self._arguments_for(config)
        n_bundles = len(self.trial_resources.bundles) if self.trial_resources is not None else 0
        if n_bundles > 1:
            arguments["num_workers"] = n_bundles - 1
        self.trainer = self._trainer_class(**arguments)
        self._has_validation = self._tune_step is None and self.trainer.has_validation()

    def step(self) -> Any:
        """Train for an epoch, and validate if there is data for it."""
        if self._tune_step is not None:
            return self._tune_step(self.trainer, {"iteration": self.training_iteration})
        result = self.trainer.train(profile=True)
        if self._has_validation:
            found = self.trainer.validate(profile=True)
            profile = {**result[PROFILE], **found[PROFILE]}
            result = {**result, **found, PROFILE: profile}
        if "val_accuracy" in result:  # the name under which displays and schedulers of scripts know it
            result.setdefault("mean_accuracy", result["val_accuracy"])
        return result

    def save_checkpoint(self, checkpoint_dir: str) -> str:
        """Save the state of the training."""
        return str(self.trainer.save(os.path.join(checkpoint_dir, CHECKPOINT)))

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Continue from what `save_checkpoint` saved."""
        self.trainer.load(checkpoint)

    def reset(self, new_config: dict[str, Any], logger_creator: Any = None, storage: Any = None) -> bool:
        """Continue the training with other hyperparameters, on new workers."""
        state = self.trainer.state_dict()
        self.trainer.shutdown()
        self.setup(new_config)
        self.trainer.load_state_dict(state)
        self.config = new_config
        return True

    def cleanup(self) -> None:
        """End the workers."""
        if self.trainer is not None:
            self.trainer.shutdown()


def trainable_of(
    trainer_class: type[Any],
    arguments: Mapping[str, Any],
    tune_step: Callable[[Any, dict[str, Any]], Any] | None,
) -> type[OperatorTrainable]:
    """Return the class of trials whose trainers have these arguments."""
    own = {
        "_trainer_class": trainer_class,
        "_arguments": dict(arguments),
        "_tune_step": None if tune_step is None else staticmethod(tune_step),
        "__module__": __name__,
        "__doc__": OperatorTrainable.__doc__,
    }
    return type("TorchTrainable", (OperatorTrainable,), own)


def _copied(value: Any) -> Any:
    """Return a copy of nested dicts and lists; other objects are shared."""
    if isinstance(value, Mapping):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if type(value) is list else value
