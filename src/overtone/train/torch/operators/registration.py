"""Registration of models, optimizers, criteria and schedulers with a `TrainingOperator`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from overtone.errors import ArgumentError, UsageError
from overtone.train.torch.operators.precision import unwrapped

Item = TypeVar("Item")
STEP_FREQUENCIES = ("epoch", "batch", "manual")


@dataclass
class Registered:
    """The parts that an operator registered, as lists.

    Attributes:
        given: The same as it was given, by argument: one object, a list or a tuple.
    """

    models: list[Any] = field(default_factory=list)
    optimizers: list[Any] = field(default_factory=list)
    criterion: list[Any] = field(default_factory=list)
    schedulers: list[Any] = field(default_factory=list)
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, models: Any, optimizers: Any, criterion: Any, schedulers: Any) -> Registered:
        """Return the arguments of `register` as lists; None is nothing.

        Raises:
            UsageError: One is of another type.
        """
        rates = torch.optim.lr_scheduler
        kinds: dict[str, tuple[Any, str]] = {
            "models": (torch.nn.Module, "a torch.nn.Module"),
            "optimizers": (torch.optim.Optimizer, "a torch.optim.Optimizer"),
            "criterion": (object, "a loss function"),
            "schedulers": (
                (rates.LRScheduler, rates.ReduceLROnPlateau),
                "a scheduler of torch.optim.lr_scheduler",
            ),
        }
        given = {"models": models, "optimizers": optimizers, "criterion": criterion, "schedulers": schedulers}
        given = {
            name: value
            for name, value in given.items()
            if value is not None or name in ("models", "optimizers")
        }
        return cls(
            **{name: _as_list(name, value, *kinds[name]) for name, value in given.items()}, given=given
        )

    def in_shape(self, name: str, items: Sequence[Any] | None = None) -> Any:
        """Return what was registered under `name`, or `items`, in the shape in which it was given."""
        given, found = self.given[name], getattr(self, name) if items is None else items
        if isinstance(given, tuple):
            return tuple(found)
        return list(found) if isinstance(given, list) else found[0]

    def step_schedulers(self) -> None:
        """Step each scheduler."""
        for scheduler in self.schedulers:
            scheduler.step()

    @contextmanager
    def unsynchronised(self) -> Iterator[None]:
        """Let workers have different numbers of batches for the block: models exchange nothing in `forward`.

        Buffers, such as running means, become those of the first worker before.
        """
        wrapped = [model for model in self.models if unwrapped(model) is not model]
        for model in wrapped:
            for buffer in model.buffers():
                torch.distributed.broadcast(buffer, 0)
            model.require_forward_param_sync = False
        try:
            yield
        finally:
            for model in wrapped:
                model.require_forward_param_sync = True


def _as_list(name: str, given: Any, kind: Any, example: str) -> list[Any]:
    items = list(given) if isinstance(given, (list, tuple)) else [given]
    for item in items:
        if not isinstance(item, kind):
            raise UsageError(
                f"register({name}={item!r:.100}): must be {example}, or a list or tuple of such objects"
            )
    if not items:
        raise UsageError(
            f"register({name}={given!r}): must be {example}; the {type(given).__name__} is empty"
        )
    return items


def check_step_frequency(schedulers: Sequence[Any], frequency: str | None) -> None:
    """Refuse schedulers if nothing says when they step, or if they need a metric that only the caller has.

    Raises:
        ArgumentError: A scheduler cannot step at this frequency.
    """
    for scheduler in schedulers:
        name = type(scheduler).__name__
        if frequency is None:
            raise ArgumentError(
                f"register(schedulers={name}): TorchTrainer needs scheduler_step_freq="
                f'{" or ".join(map(repr, STEP_FREQUENCIES))}, such as scheduler_step_freq="epoch"'
            )
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau) and frequency != "manual":
            raise ArgumentError(
                f"scheduler_step_freq={frequency!r}: {name} needs a metric; set scheduler_step_freq="
                '"manual", and call trainer.update_scheduler(metric) after each epoch'
            )


def distributed(
    model: torch.nn.Module, device_ids: Sequence[int] | None, ddp_args: Mapping[str, Any] | None
) -> torch.nn.Module:
    """Return `model` so that its gradients are means over all workers; a model without any stays as it is."""
    if not any(parameter.requires_grad for parameter in model.parameters()):
        return model
    return torch.nn.parallel.DistributedDataParallel(model, **{"device_ids": device_ids, **(ddp_args or {})})


def move(items: Sequence[Item], device: torch.device) -> list[Item]:
    """Return `items` with the modules among them moved to `device`, in place."""
    return [item.to(device) if isinstance(item, torch.nn.Module) else item for item in items]


def has_own(operator: Any, base: type, *methods: str) -> bool:
    """Return whether the class of `operator` defines one of `methods` itself."""
    return any(getattr(type(operator), name) is not getattr(base, name) for name in methods)
