"""One worker of a trainer: makes the operator, runs its epochs, and gives and takes its state."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch

from overtone.errors import TrainableError, UsageError
from overtone.train.torch.operators import random_states
from overtone.train.torch.operators.loaders import Batches, shared_out, with_data
from overtone.train.torch.operators.meters import BATCH_COUNT, EPOCH, NUM_SAMPLES, PROFILE
from overtone.train.torch.operators.operator_state import OperatorState, on_cpu
from overtone.train.torch.operators.precision import unwrapped
from overtone.train.torch.operators.training_operator import TrainingOperator


@dataclass(frozen=True)
class OperatorSettings:
    """The arguments of a trainer that workers need."""

    operator_class: type[TrainingOperator]
    config: dict[str, Any]
    initialization_hook: Callable[[], Any] | None = None
    use_gpu: bool = False
    wrap_ddp: bool = True
    use_fp16: bool = False
    use_tqdm: bool = False
    add_dist_sampler: bool = True
    scheduler_step_freq: str | None = None


class OperatorRunner:
    """One worker's operator, and its place in the data.

    Args:
        settings: The same in all workers.
        world_rank: This worker's number, from 0.
        world_size: The number of workers; with several, the process group exists already.
        local_rank: The worker's number on its machine.
    """

    def __init__(
        self, settings: OperatorSettings, world_rank: int = 0, world_size: int = 1, local_rank: int = 0
    ) -> None:
        begin = perf_counter()
        if settings.initialization_hook is not None:
            settings.initialization_hook()
        self._world_rank, self._world_size = world_rank, world_size
        self.operator = settings.operator_class(
            settings.config,
            world_rank=world_rank,
            local_rank=local_rank,
            world_size=world_size,
            device=device_of(settings.use_gpu, local_rank),
            use_gpu=settings.use_gpu,
            wrap_ddp=settings.wrap_ddp and world_size > 1,
            add_dist_sampler=settings.add_dist_sampler,
            scheduler_step_freq=settings.scheduler_step_freq,
            use_fp16=settings.use_fp16,
            use_tqdm=settings.use_tqdm,
        )
        self._state = OperatorState(self.operator)
        self._train_batches = self.operator._train_batches
        self._setup_s = perf_counter() - begin

    def has_validation(self) -> bool:
        """Return whether the operator registered data for validation."""
        return self.operator.validation_loader is not None

    # --- epochs ----------------------------------------------------------------------------

    def train_epoch(
        self, num_steps: int | None = None, profile: bool = False, info: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Train for `num_steps` batches, or to the end of the epoch; return this worker's results.

        Raises:
            TrainableError: The operator registered no data to train on.
        """
        operator, batches = self.operator, self._train_batches
        if batches is None:
            raise TrainableError(
                f"{type(operator).__name__} registers no data to train on: call "
                "self.register_data(train_loader=...) in setup(), or give train(dataset=...)"
            )
        told = {
            **(info or {}),
            "epoch_idx": batches.epoch_idx,
            "num_steps": num_steps,
            "use_fp16": operator.use_fp16,
            "scheduler_step": operator.scheduler_step_freq,
        }
        found = self._run(operator.train_epoch, batches, num_steps, profile, told)
        return _ordered({EPOCH: batches.epoch, **found})

    def validate(
        self, num_steps: int | None = None, profile: bool = False, info: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Validate on `num_steps` batches, or on all; return this worker's results.

        Raises:
            TrainableError: The operator registered no data for validation.
        """
        operator = self.operator
        if operator._validation_batches is None:
            raise TrainableError(
                f"{type(operator).__name__} registers no data for validation: call "
                "self.register_data(validation_loader=...) in setup()"
            )
        if num_steps is None:
            operator._validation_batches.end()  # all batches count, also those of an earlier call
        with operator._registered.unsynchronised():
            return _ordered(
                self._run(
                    operator.validate, operator._validation_batches, num_steps, profile, dict(info or {})
                )
            )

    def _run(
        self, method: Callable[..., Any], batches: Batches, num_steps: int | None, profile: bool,
        info: dict[str, Any],
    ) -> dict[str, Any]:  # fmt: skip
        timers = self.operator.timers
        timers.reset()
        if profile:
            timers.enable()
        begin = perf_counter()
        n_arguments = count_arguments(method)
        if num_steps is not None and not n_arguments:
            raise UsageError(
                f"num_steps={num_steps}: {method.__qualname__}(self) reads the whole loader itself; define "
                f"{method.__name__}(self, iterator, info), whose iterator has num_steps batches"
            )
        try:
            if n_arguments:
                iterator = batches.rest() if num_steps is None else batches.take(num_steps)
            else:
                batches.count_epoch()
                iterator = iter(())
            found = method(*(iterator, info)[:n_arguments])
        finally:
            timers.disable()
        if num_steps is None:
            batches.end()  # a loop may leave batches of its iterator
        if not isinstance(found, Mapping):
            raise UsageError(
                f"{method.__qualname__}() must return a dict of metrics, such as meters.summary(), not "
                f"{type(found).__name__}"
            )
        result = {str(name): plain(value) for name, value in found.items()}
        if profile:
            result[PROFILE] = {
                f"{method.__name__}_s": perf_counter() - begin, "setup_s": self._setup_s, **timers.stats()
            }  # fmt: skip
        return result

    def use_dataset(self, dataset: Any) -> None:
        """Train on another dataset from now on, or on the registered data for None; epochs count on."""
        batches, before = self.operator._train_batches, self._train_batches
        if dataset is not None:
            loader = with_data(self.operator.train_loader, dataset)
            batches = Batches(shared_out(loader, self._world_rank, self._world_size, True))
        if batches is not None and before is not None:
            batches.end()
            batches.epoch = before.epoch
        self._train_batches = batches

    # --- calls of the trainer --------------------------------------------------------------

    def apply_operator(self, function: Callable[[TrainingOperator], Any]) -> Any:
        """Return `function(operator)`."""
        return function(self.operator)

    def update_scheduler(self, metric: float) -> None:
        """Step each scheduler with `metric`."""
        for scheduler in self.operator._registered.schedulers:
            if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
                scheduler.step(metric)
            else:
                scheduler.step()

    def models(self) -> Any:
        """Return copies of the users' models on the CPU, in the shape in which they were registered."""
        registered = self.operator._registered
        return registered.in_shape("models", [_plain_copy(unwrapped(model)) for model in registered.models])

    def state_dict(self) -> dict[str, Any]:
        """Return this worker's state: "shared" is the same in all workers, and None except in the first."""
        operator = self.operator
        own = {
            "random": random_states.capture(),
            "train": None if self._train_batches is None else self._train_batches.state_dict(),
            "validation": (
                None if operator._validation_batches is None else operator._validation_batches.state_dict()
            ),
        }
        shared = self._state.get() if self._world_rank == 0 else None
        return {"shared": on_cpu(shared), "own": on_cpu(own)}

    def load_state_dict(self, shared: Mapping[str, Any], owns: list[dict[str, Any]]) -> None:
        """Restore the state.

        Args:
            shared: The state that is the same in all workers.
            owns: The state of each worker that saved; their number may differ from that of the workers now.
        """
        self._state.set(shared)
        is_same_part = len(owns) == self._world_size
        own = owns[self._world_rank if is_same_part else 0]
        operator = self.operator
        for batches, saved in (
            (self._train_batches, own["train"]), (operator._validation_batches, own["validation"])
        ):  # fmt: skip
            if batches is not None and saved is not None:
                batches.load_state_dict(saved, is_same_part)
        if is_same_part:
            random_states.restore(own["random"])


def device_of(use_gpu: bool, local_rank: int) -> torch.device:
    """Return the device of a worker: its GPU, of those that it sees, or the CPU."""
    if not use_gpu:
        return torch.device("cpu")
    count = torch.cuda.device_count()
    device = torch.device("cuda", local_rank if count > local_rank else 0)
    torch.cuda.set_device(device)
    return device


def count_arguments(method: Callable[..., Any]) -> int:
    """Return how many of (iterator, info) a loop takes: 0, 1 or 2."""
    parameters = inspect.signature(method).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 2
    return min(2, sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters))


def _ordered(result: dict[str, Any]) -> dict[str, Any]:
    """Return `result` with the counts first, in which order displays choose columns."""
    return {name: result[name] for name in (NUM_SAMPLES, EPOCH, BATCH_COUNT) if name in result} | result


def plain(value: Any) -> Any:
    """Return a tensor of one element as a number, anything else as it is."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.item()
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return value


def _plain_copy(model: torch.nn.Module) -> torch.nn.Module:
    shallow = copy.copy(model)
    vars(shallow).pop("forward", None)  # mixed precision is the worker's affair
    return copy.deepcopy(shallow).to("cpu")
