"""A trainer that runs one function in several ranks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from overtone.analysis.result import Result
from overtone.errors import UsageError
from overtone.keywords import KnownKeywords, check_kind
from overtone.train.backend import BackendConfig
from overtone.train.base_trainer import TrainingFailedError
from overtone.train.dataset_shard import normalized
from overtone.train.in_trial import fit_in_trial, train_in_trial
from overtone.train.training import Training, range_of_ranks, takes_config
from overtone.train.user_callback import UserCallback
from overtone.tune.tune import RunConfig
from overtone.tune.tuner import Tuner
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.session.current import is_inside
from overtone.worker.trainables.demand import ScalingConfig
from overtone.worker.trainables.with_parameters import Bound, with_parameters

T = TypeVar("T", bound="DataParallelTrainer")


class DataParallelTrainer(KnownKeywords):
    """Trains by one function that runs in several ranks, each a process of its own.

    `fit()` trains once; `Tuner(trainer, param_space={"train_loop_config": {...}})` searches, also over
    {"scaling_config": ScalingConfig(num_workers=tune.choice([1, 2]))}.

    Args:
        train_loop_per_worker: The function of each rank, with the config or without arguments. Every rank
            calls `train.report(metrics, checkpoint=...)` equally often: it waits for all ranks.
        train_loop_config: The config of the function.
        backend_config: The settings of the framework.
        scaling_config: The number of ranks and their resources; one rank by default. The head takes no
            resources unless `trainer_resources` says so.
        run_config: Run settings of `fit`, and of a `Tuner` that has none.
        datasets: Data by name: `train.get_dataset_shard(name)` returns a rank's part.
        dataset_config: Which of the datasets are split.
        metadata: What `train.get_context().get_metadata()` returns in ranks.
        resume_from_checkpoint: What `train.get_checkpoint()` returns in ranks at the beginning.

    Raises:
        UsageError: `train_loop_per_worker` is not callable, or needs more than one argument.
        ArgumentError: An argument has another type; or the number of ranks is neither a whole number above
            0 nor a pair of them.
    """

    _config_argument = "train_loop_config"

    def __init__(
        self,
        train_loop_per_worker: Callable[..., Any],
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        backend_config: BackendConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
    ) -> None:
        if not callable(train_loop_per_worker):
            raise UsageError(
                f"train_loop_per_worker={train_loop_per_worker!r:.100}: must be a function of the config"
            )
        check_kind("train_loop_config", train_loop_config, Mapping, '{"lr": 0.1}')
        check_kind("scaling_config", scaling_config, ScalingConfig, "ScalingConfig(num_workers=2)")
        check_kind("run_config", run_config, RunConfig, 'RunConfig(name="first")')
        check_kind("backend_config", backend_config, BackendConfig, "TorchConfig()")
        check_kind("resume_from_checkpoint", resume_from_checkpoint, Checkpoint, "Checkpoint(path)")
        callbacks = list((run_config and run_config.callbacks) or ())
        others = [one for one in callbacks if not isinstance(one, UserCallback)]
        self.run_config = replace(run_config or RunConfig(), callbacks=others or None)
        self.scaling_config = scaling_config or ScalingConfig()
        self.train_loop_config = dict(train_loop_config or {})
        self.datasets = normalized(datasets)
        self._training = Training(
            train_loop_per_worker,
            loop_config=self.train_loop_config,
            scaling=self.scaling_config,
            backend=backend_config or BackendConfig(),
            datasets=self.datasets,
            data_config=dataset_config,
            metadata=dict(metadata or {}),
            resume_from=resume_from_checkpoint,
            config_argument=self._config_argument,
            callbacks=[one for one in callbacks if isinstance(one, UserCallback)],
        )
        self._restored: str | None = None
        range_of_ranks(self.scaling_config)
        takes_config(train_loop_per_worker)

    def fit(self) -> Result:
        """Train once, and return the outcome. Block until all ranks have ended.

        Outside of a trial it is an experiment of one trial. Inside a trial the ranks run in the trial's own
        bundles, and the callbacks of `run_config` get the reports.

        Raises:
            TrainingFailedError: The training failed, more often than `failure_config` allows.
            ResourceError: This machine can never run so many ranks; or, in a trial, its bundles are too few
                or too small.
        """
        if is_inside():
            return fit_in_trial(self._training, self.run_config, type(self).__name__)
        if self._restored is not None:
            tuner = Tuner.restore(self._restored, trainable=self, resume_errored=True)
        else:
            known = replace(self.as_trainable(), resources=self._training.resources({}))  # checked at once
            tuner = Tuner(known, param_space=self._recorded(), run_config=self.run_config)
        result = tuner.fit()[0]
        if result.error is not None:
            raise TrainingFailedError(
                f"{result.error}\nGo on with it: {type(self).__name__}.restore("
                f"{os.path.dirname(result.path)!r}, train_loop_per_worker=...).fit()"
            ) from result.error
        return result

    def as_trainable(self) -> Bound:
        """Return the trainable of a search: its trials run this training, with their configs."""
        bound = with_parameters(train_in_trial, training=self._training)
        return replace(bound, resources=self._training.resources, name=type(self).__name__)

    @classmethod
    def restore(
        cls: type[T],
        path: str | os.PathLike[str],
        train_loop_per_worker: Callable[..., Any] | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> T:
        """Return the trainer of an earlier `fit()`; its `fit()` goes on from the last checkpoint.

        Args:
            path: The folder of the experiment, or its URL.
            train_loop_per_worker: The function again, since code is not recorded.
            train_loop_config: The config again, if it was not plain data.
            arguments: Further arguments of the trainer, where they were given.

        Raises:
            UsageError: `train_loop_per_worker` is missing.
            StorageError: There is no experiment at `path`.
        """
        if train_loop_per_worker is None:
            raise UsageError(
                f"{cls.__name__}.restore({os.fspath(path)!r}) needs the training function again, since code "
                "is not recorded: add train_loop_per_worker=..."
            )
        trainer = cls(train_loop_per_worker, train_loop_config=train_loop_config, **arguments)
        trainer._restored = os.fspath(path)
        return trainer

    @classmethod
    def can_restore(cls, path: str | os.PathLike[str], **_: Any) -> bool:
        """Return whether there is an experiment at `path`."""
        return Tuner.can_restore(os.fspath(path))

    def _recorded(self) -> dict[str, Any]:
        """Return the config of the trial of `fit`: what of it is plain data, so that it is in the results."""
        scaling = self.scaling_config.changes()
        space = {self._config_argument: self.train_loop_config, "scaling_config": scaling}
        return {name: value for name, value in space.items() if value and _is_plain(value)}


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
