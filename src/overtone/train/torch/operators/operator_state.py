"""The state of an operator: all that a training continues from, bit by bit.

Hyperparameters of optimizers that the configuration has changed since the save count as the configuration has
them: a scheduler such as PBT copies another trial's checkpoint and changes the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from overtone.errors import TrainableError
from overtone.train.torch.operators.precision import unwrapped
from overtone.train.torch.operators.training_operator import TrainingOperator

_RATE = "lr"


class OperatorState:
    """Reads and sets the state of one operator, whose `setup` has just run."""

    def __init__(self, operator: TrainingOperator) -> None:
        self._operator = operator
        self._registered = operator._registered
        self._initial = [_hyperparameters(optimizer) for optimizer in self._registered.optimizers]

    def get(self) -> dict[str, Any]:
        """Return the state that is the same in all workers: plain data, and tensors on the CPU."""
        operator = self._operator
        return {
            "models": [unwrapped(model).state_dict() for model in self._registered.models],
            "optimizers": [optimizer.state_dict() for optimizer in self._registered.optimizers],
            "initial": self._initial,
            "schedulers": [scheduler.state_dict() for scheduler in self._registered.schedulers],
            "scaler": operator._precision.scaler.state_dict(),
            "global_step": operator.global_step,
            "operator": operator.state_dict(),
        }

    def set(self, state: Mapping[str, Any]) -> None:
        """Restore the state.

        Raises:
            TrainableError: The operator has other models, optimizers or schedulers.
        """
        for name in ("models", "optimizers", "schedulers"):
            items = getattr(self._registered, name)
            if len(items) != len(state[name]):
                raise TrainableError(
                    f"the checkpoint has {len(state[name])} {name}, and setup() registers {len(items)}: "
                    "load it with "
                    "the operator that saved it"
                )
        for model, saved in zip(self._registered.models, state["models"], strict=True):
            unwrapped(model).load_state_dict(saved)
        for optimizer, saved in zip(self._registered.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        for scheduler, saved in zip(self._registered.schedulers, state["schedulers"], strict=True):
            scheduler.load_state_dict(saved)
        for optimizer, now, then in zip(
            self._registered.optimizers, self._initial, state["initial"], strict=True
        ):
            self._apply_changes(optimizer, now, then)
        operator = self._operator
        if state["scaler"]:
            operator._precision.scaler.load_state_dict(dict(state["scaler"]))
        operator.global_step = state["global_step"]
        if state["operator"] is not None:
            operator.load_state_dict(state["operator"])

    def _apply_changes(
        self, optimizer: Any, now: Sequence[Mapping[str, Any]], then: Sequence[Mapping[str, Any]]
    ) -> None:
        """Set what the configuration has changed; a learning rate keeps what its schedule has made of it."""
        if len(now) != len(then):
            return
        schedulers = [
            one for one in self._registered.schedulers if getattr(one, "optimizer", None) is optimizer
        ]
        for index, (group, new, old) in enumerate(zip(optimizer.param_groups, now, then, strict=True)):
            for name, value in new.items():
                if name not in old or value == old[name]:
                    continue
                if name != _RATE or not schedulers or not old[name]:
                    group[name] = value
                    continue
                ratio = value / old[name]
                group[name] *= ratio
                if "initial_lr" in group:
                    group["initial_lr"] *= ratio
                for base_rates in (rates for scheduler in schedulers for rates in _base_rates(scheduler)):
                    base_rates[index] *= ratio


def _base_rates(scheduler: Any) -> Iterator[list[float]]:
    """Yield the rates that a scheduler starts from, for each group; also of schedulers inside it."""
    own = vars(scheduler)
    if "base_lrs" in own:
        yield own["base_lrs"]
    for inner in own.get("_schedulers", ()):
        yield from _base_rates(inner)


def _hyperparameters(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    """Return the plain values of each parameter group, such as lr and momentum."""
    found = []
    for group in optimizer.param_groups:
        values = {name: value for name, value in group.items() if isinstance(value, (int, float, str, tuple))}
        if "initial_lr" in values:  # a scheduler has set it, and may have changed the rate already
            values[_RATE] = values.pop("initial_lr")
        found.append(values)
    return found


def on_cpu(state: Any) -> Any:
    """Return a copy of nested lists, tuples and dicts with all tensors on the CPU."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, Mapping):
        return {key: on_cpu(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(map(on_cpu, state))
    return state
