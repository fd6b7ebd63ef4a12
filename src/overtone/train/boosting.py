"""Trainers of boosted trees: a training loop, or the older form, with parameters and data in its place."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from overtone.train.backend import BackendConfig
from overtone.train.constants import TRAIN_DATASET_KEY
from overtone.train.data import get_dataset_shard
from overtone.train.data_parallel_trainer import DataParallelTrainer
from overtone.tune.session import get_checkpoint

DEFAULT_ROUNDS = 10


class BoostingTrainer(DataParallelTrainer):
    """A trainer whose loop may be left out: `params`, `label_column` and `datasets` then stand for it.

    Raises:
        TypeError: Arguments of the library are given besides a training loop.
    """

    def __init__(
        self,
        train_loop_per_worker: Callable[..., Any] | None,
        backend_config: BackendConfig,
        older: Mapping[str, Any],
        train_kwargs: Mapping[str, Any],
        **options: Any,
    ) -> None:
        if train_loop_per_worker is None:
            train_loop_per_worker = self._older_loop(
                older, train_kwargs, options["datasets"], options["run_config"]
            )
            options["train_loop_config"] = dict(older["params"] or {})
            self._config_argument = "params"
        elif given := [name for name, value in {**older, **train_kwargs}.items() if value is not None]:
            raise TypeError(
                f"{type(self).__name__}(train_loop_per_worker, ...) does not take {', '.join(given)}: "
                "pass them to the library in the training loop"
            )
        super().__init__(train_loop_per_worker, backend_config=backend_config, **options)

    @classmethod
    def get_model(cls, checkpoint: Any) -> Any:
        """Return the model of a checkpoint that `RayTrainReportCallback` saved."""
        return cls._callback().get_model(checkpoint)

    @staticmethod
    @abstractmethod
    def _callback() -> Any:
        """Return the class of the library's `RayTrainReportCallback`."""

    @staticmethod
    @abstractmethod
    def _rounds(model: Any) -> int:
        """Return the number of rounds of a model."""

    @staticmethod
    @abstractmethod
    def _train(
        params: Mapping[str, Any],
        label: str,
        shards: Mapping[str, Any],
        rounds: int,
        model: Any,
        **train_kwargs: Any,
    ) -> None:
        """Train for some rounds on DataFrames by name, the training data first."""

    def _older_loop(
        self,
        older: Mapping[str, Any],
        train_kwargs: Mapping[str, Any],
        datasets: Mapping[str, Any] | None,
        run_config: Any,
    ) -> Callable[[dict[str, Any]], None]:
        name = type(self).__name__
        if TRAIN_DATASET_KEY not in (datasets or {}):
            raise ValueError(
                f"{name} needs train_loop_per_worker, or datasets with {TRAIN_DATASET_KEY!r}; "
                f"datasets={list(datasets or {})}"
            )
        if not older["label_column"]:
            raise ValueError(f'{name} without train_loop_per_worker needs label_column, such as "y"')
        saving = getattr(run_config, "checkpoint_config", None)
        return functools.partial(
            _loop,
            trainer=type(self),
            label=older["label_column"],
            rounds=older["num_boost_round"] or DEFAULT_ROUNDS,
            names=sorted(datasets or {}, key=lambda name: name != TRAIN_DATASET_KEY),
            frequency=getattr(saving, "checkpoint_frequency", 0) or 0,
            at_end=getattr(saving, "checkpoint_at_end", None) is not False,
            train_kwargs=dict(train_kwargs),
        )


def _loop(
    params: dict[str, Any],
    *,
    trainer: type[BoostingTrainer],
    label: str,
    rounds: int,
    names: list[str],
    frequency: int,
    at_end: bool,
    train_kwargs: dict[str, Any],
) -> None:
    callback = trainer._callback()
    checkpoint = get_checkpoint()
    model = callback.get_model(checkpoint) if checkpoint else None
    rounds -= trainer._rounds(model) if model else 0
    if rounds < 1:
        return
    callbacks = list(train_kwargs.pop("callbacks", None) or ())
    if not any(isinstance(one, callback) for one in callbacks):
        callbacks.append(callback(frequency=frequency, checkpoint_at_end=at_end))
    shards = {name: get_dataset_shard(name).to_pandas() for name in names}
    trainer._train(params, label, shards, rounds, model, callbacks=callbacks, **train_kwargs)
