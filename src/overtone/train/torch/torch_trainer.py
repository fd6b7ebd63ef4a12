"""The trainer for PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from overtone.keywords import check_kind
from overtone.train.data_parallel_trainer import DataParallelTrainer
from overtone.train.torch.config import TorchConfig
from overtone.tune.tune import RunConfig
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.trainables.demand import ScalingConfig


class _AsTrainable:
    """`as_trainable`: on a trainer for `Tuner`, on the class for the operator that the call names."""

    def __get__(self, trainer: TorchTrainer | None, kind: type[TorchTrainer]) -> Callable[..., Any]:
        if trainer is not None:
            return super(TorchTrainer, trainer).as_trainable
        from overtone.train.torch.operators.operator_trainer import OperatorTrainer

        return OperatorTrainer.as_trainable


class TorchTrainer(DataParallelTrainer):
    """Trains by one function that runs in several ranks of a process group.

    `TorchTrainer(training_operator_cls=...)` returns an `OperatorTrainer` instead, and
    `TorchTrainer.as_trainable(training_operator_cls=...)` a class for `tune.run`: see
    `overtone.util.sgd.TorchTrainer`.

    Args:
        train_loop_per_worker: The function of each rank, with the config or without arguments.
        train_loop_config: The config of the function.
        torch_config: The process group: its backend and timeout.
        scaling_config: The number of ranks and their resources; one rank by default.
        run_config: Run settings of `fit`, and of a `Tuner` that has none.
        datasets: Data by name: `train.get_dataset_shard(name)` returns a rank's part.
        dataset_config: Which of the datasets are split.
        metadata: What `train.get_context().get_metadata()` returns in ranks.
        resume_from_checkpoint: What `train.get_checkpoint()` returns in ranks at the beginning.
    """

    as_trainable = _AsTrainable()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if "training_operator_cls" in kwargs:
            from overtone.train.torch.operators.operator_trainer import OperatorTrainer

            return OperatorTrainer(*args, **kwargs)
        return super().__new__(cls, *args, **kwargs)

    def __init__(
        self,
        train_loop_per_worker: Callable[..., Any],
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        torch_config: TorchConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
    ) -> None:
        check_kind("torch_config", torch_config, TorchConfig, 'TorchConfig(backend="gloo")')
        super().__init__(
            train_loop_per_worker,
            train_loop_config=train_loop_config,
            backend_config=torch_config or TorchConfig(),
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=dataset_config,
            metadata=metadata,
            resume_from_checkpoint=resume_from_checkpoint,
        )


_own = list(inspect.signature(TorchTrainer.__init__).parameters.values())[1:]
TorchTrainer.__signature__ = inspect.Signature(_own)  # type: ignore[attr-defined]  # `__new__` takes any arguments
