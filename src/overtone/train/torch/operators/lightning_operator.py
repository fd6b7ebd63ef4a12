"""Operators that train a LightningModule: its own methods are called, without Lightning's Trainer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from overtone.errors import TrainableError, UsageError
from overtone.train.torch.operators.meters import NUM_SAMPLES

_OF_LIGHTNING = ("lightning", "pytorch_lightning")


class LightningOperator:
    """The part of an operator that trains a LightningModule; see `from_ptl`.

    `training_step` returns the loss, or a dict with "loss". Numbers that steps `self.log` are metrics.
    `configure_optimizers` returns one optimizer, and its scheduler if it has one.

    Attributes:
        lightning_module: The module.
    """

    _module_class: type[Any]
    _given_loaders: tuple[Any, Any]

    def setup(self: Any, config: dict[str, Any]) -> None:
        """Make the module, and register it with its optimizer and its loaders."""
        module = self.lightning_module = self._module_class(config)
        _call(module, "prepare_data")
        _call(module, "setup", "fit")
        optimizer, scheduler, interval = configured(module.configure_optimizers())
        if scheduler is not None and self.scheduler_step_freq is None:
            self.scheduler_step_freq = "batch" if interval == "step" else "epoch"
        # DistributedDataParallel sums gradients of what its forward computes: the forward is a whole step
        module.forward = self._step
        self.register(models=module, optimizers=optimizer, schedulers=scheduler)
        names = ("train_dataloader", "val_dataloader")
        found = [
            _call(module, name) if given is None else given
            for name, given in zip(names, self._given_loaders, strict=True)
        ]
        self.register_data(train_loader=found[0], validation_loader=found[1])

    def train_epoch(self: Any, iterator: Iterable[Any], info: dict[str, Any]) -> dict[str, Any]:
        """Train on all batches, between the module's hooks of an epoch."""
        _call(self.lightning_module, "on_train_epoch_start")
        found: dict[str, Any] = super().train_epoch(iterator, info)  # type: ignore[misc]
        _call(self.lightning_module, "on_train_epoch_end")
        return found

    def train_batch(self: Any, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Update the model by the loss of `training_step`.

        Raises:
            UsageError: `training_step` returned no loss.
        """
        batch = moved(batch, self.device)
        with self.timers.record("fwd"):
            returned, metrics = self.model("training_step", batch, batch_info["batch_idx"])
        loss = returned["loss"] if isinstance(returned, Mapping) else returned
        if not isinstance(loss, torch.Tensor):
            raise UsageError(
                f"{type(self.lightning_module).__name__}.training_step() must return the loss, or a dict "
                f'with "loss", not {returned!r:.100}'
            )
        with self.timers.record("grad"):
            self.optimizer.zero_grad()
            self.backward(loss)
        with self.timers.record("apply"):
            self.step(self.optimizer)
        return {"train_loss": loss.item(), **metrics, NUM_SAMPLES: size_of(batch)}

    def validate(self: Any, val_iterator: Iterable[Any], info: dict[str, Any]) -> dict[str, Any]:
        """Evaluate all batches, between the module's hooks of a validation."""
        _call(self.lightning_module, "on_validation_epoch_start")
        found: dict[str, Any] = super().validate(val_iterator, info)  # type: ignore[misc]
        _call(self.lightning_module, "on_validation_epoch_end")
        return found

    def validate_batch(self: Any, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Return what `validation_step` logs and returns; a single tensor is "val_loss"."""
        batch = moved(batch, self.device)
        with self.timers.record("eval_fwd"):
            returned, metrics = self.model("validation_step", batch, batch_info["batch_idx"])
        if isinstance(returned, Mapping):
            metrics = {**returned, **metrics}
        elif returned is not None:
            metrics = {"val_loss": returned, **metrics}
        return {**metrics, NUM_SAMPLES: size_of(batch)}

    def _step(self: Any, name: str, batch: Any, batch_idx: int) -> tuple[Any, dict[str, Any]]:
        """Return what a step of the module returns, and what it logs."""
        module, logged = self.lightning_module, {}
        whole_step = vars(module).pop("forward")

        def log(key: str, value: Any, *args: Any, **kwargs: Any) -> None:
            logged[key] = value.detach() if isinstance(value, torch.Tensor) else value

        def log_dict(values: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
            for key, value in values.items():
                log(key, value)

        vars(module).update(log=log, log_dict=log_dict)
        try:
            return getattr(module, name)(batch, batch_idx), logged
        finally:
            del module.log, module.log_dict
            module.forward = whole_step


def with_module(base: type[Any], module_class: Any, *loaders: Any) -> type[Any]:
    """Return an operator that trains a LightningModule.

    Raises:
        UsageError: `module_class` is not a class with the methods of one.
    """
    needed = ("training_step", "configure_optimizers")
    if not isinstance(module_class, type) or not all(hasattr(module_class, name) for name in needed):
        raise UsageError(
            f"from_ptl({module_class!r:.100}): must be a class of LightningModule with {' and '.join(needed)}"
        )
    own = {"_module_class": module_class, "_given_loaders": loaders, "__module__": __name__}
    return type("LightningOperator", (LightningOperator, base), own)


def configured(found: Any) -> tuple[torch.optim.Optimizer, Any, str]:
    """Return the optimizer, the scheduler or None, and its interval, of what `configure_optimizers` returned.

    Raises:
        TrainableError: There are several optimizers or schedulers, or none.
    """
    if isinstance(found, (list, tuple)) and len(found) == 2 and isinstance(found[0], (list, tuple)):
        optimizers, schedulers = list(found[0]), list(found[1])
    else:
        parts = list(found) if isinstance(found, (list, tuple)) else [found]
        optimizers = [part["optimizer"] if isinstance(part, Mapping) else part for part in parts]
        schedulers = [
            part["lr_scheduler"] for part in parts if isinstance(part, Mapping) and "lr_scheduler" in part
        ]
    if len(optimizers) != 1 or len(schedulers) > 1 or not isinstance(optimizers[0], torch.optim.Optimizer):
        raise TrainableError(
            f"configure_optimizers() returned {found!r:.200}: from_ptl trains one optimizer with at most one "
            "scheduler; write a TrainingOperator with train_batch for more"
        )
    scheduler, interval = (schedulers or [None])[0], "epoch"
    if isinstance(scheduler, Mapping):
        scheduler, interval = scheduler["scheduler"], scheduler.get("interval", "epoch")
    return optimizers[0], scheduler, interval


def moved(batch: Any, device: torch.device) -> Any:
    """Return a batch of nested lists, tuples and dicts with all tensors on `device`."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, Mapping):
        return {key: moved(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([moved(part, device) for part in batch])
    return batch


def size_of(batch: Any) -> int:
    """Return the number of samples: the first length of the first tensor.

    Raises:
        TrainableError: There is no tensor.
    """
    parts = [batch]
    while parts:
        part = parts.pop(0)
        if isinstance(part, torch.Tensor) and part.dim():
            return part.size(0)
        if isinstance(part, Mapping):
            parts[:0] = part.values()
        elif isinstance(part, (list, tuple)):
            parts[:0] = part
    raise TrainableError(f"the size of a batch is unknown, since it has no tensor: {batch!r:.100}")


def _call(module: Any, name: str, *arguments: Any) -> Any:
    """Call a method that the user's class defines; return None if only Lightning defines it."""
    for kind in type(module).__mro__:
        if name in vars(kind):
            if kind.__module__.partition(".")[0] in _OF_LIGHTNING:
                return None
            return getattr(module, name)(*arguments)
    return None
