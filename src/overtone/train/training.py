"""A training in several ranks: what it consists of, and how a trial's process runs it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from overtone.core.resources import Resources
from overtone.errors import ArgumentError, ResourceError, UsageError
from overtone.lazy import nearest
from overtone.train.backend import BackendConfig
from overtone.train.data import send_shards
from overtone.train.hosts import host_for
from overtone.train.user_callback import UserCallback
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.gang.call import OnReport, OnTell
from overtone.worker.gang.gang import Gang
from overtone.worker.session.current import current, is_inside
from overtone.worker.trainables.demand import ScalingConfig, worker_range


@dataclass(frozen=True)
class Training:
    """The arguments of a trainer.

    Attributes:
        loop: The function that each rank runs, with the loop's config or without arguments.
        loop_config: The config of the loop.
        scaling: The number of ranks and their resources.
        backend: What the framework needs around the loop.
        datasets: Data by name; `get_dataset_shard(name)` returns a rank's part.
        data_config: Which of them are split.
        metadata: What `get_context().get_metadata()` returns in ranks.
        resume_from: A checkpoint that the ranks begin with, if the trial has none of its own.
        callbacks: Their `after_report` is called in the head.
        config_argument: The name of the loop's config among the trainer's arguments, and in a param_space.
    """

    loop: Callable[..., Any]
    loop_config: Mapping[str, Any] = field(default_factory=dict)
    scaling: ScalingConfig = field(default_factory=ScalingConfig)
    backend: BackendConfig = field(default_factory=BackendConfig)
    datasets: Mapping[str, Any] = field(default_factory=dict)
    data_config: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    resume_from: Checkpoint | None = None
    callbacks: Sequence[UserCallback] = ()
    config_argument: str = "train_loop_config"

    def with_config(self, config: Mapping[str, Any]) -> Training:
        """Return the training with the settings of a trial's config, such as {"train_loop_config": {...}}.

        Raises:
            ArgumentError: The config has another name.
        """
        keys = (self.config_argument, "scaling_config", "datasets")
        for name in config:
            if name not in keys:
                raise ArgumentError(
                    f"param_space of a trainer: {name!r} must be one of {', '.join(keys)}"
                    f"{nearest(name, keys)}; hyperparameters of the loop belong into "
                    f"{{{keys[0]!r}: {{{name!r}: ...}}}}"
                )
        return replace(
            self,
            loop_config={**self.loop_config, **config.get(self.config_argument, {})},
            scaling=with_changes(self.scaling, config.get("scaling_config", {})),
            datasets={**self.datasets, **config.get("datasets", {})},
        )

    def resources(self, config: Mapping[str, Any]) -> Resources:
        """Return the resources of a trial with this config: the head's bundle, and one for each rank."""
        return resources_of(self.with_config(config).scaling)

    def run(self, on_report: OnReport, on_tell: OnTell | None = None) -> None:
        """Run the loop in all ranks of a gang.

        Args:
            on_report: Gets the reports of all ranks, once each has reported; see `Gang.run`.
            on_tell: Gets what ranks tell besides.

        Raises:
            ResourceError: There are too few bundles for the ranks.
            GangError: A rank raised, died or hung.
        """
        resources = self.gang_resources()
        gang = Gang(host_for(resources), len(resources.bundles) - 1, timeout_s=self.backend.timeout_s)
        if self.resume_from is not None and gang.checkpoint is None:
            gang.checkpoint = self.resume_from.path
        own = replace(self, datasets={}, callbacks=(), resume_from=None)
        try:
            gang.start()
            send_shards(gang, self.datasets, self.data_config)
            with self.backend.head_context(gang):
                gang.run(own.run_in_rank, on_report=on_report, on_tell=on_tell)
        finally:
            gang.shutdown()

    def gang_resources(self) -> Resources:
        """Return the bundles of the head and of the ranks that run: of a range as many as the trial has."""
        least, most = range_of_ranks(self.scaling)
        if least == most or not is_inside():
            return resources_of(self.scaling)
        n_bundles = len(current().get_trial_resources().resources().bundles)
        number = min(most, max(least, n_bundles - 1))  # one is the head's
        return resources_of(replace(self.scaling, num_workers=number))

    def run_in_rank(self) -> None:
        """Run the loop in this rank; what it returns is not used, and need not be pickled."""
        session: Any = current()
        session.metadata = dict(self.metadata)
        with self.backend.rank_context():
            try:
                self.loop(*([dict(self.loop_config)] if takes_config(self.loop) else []))
            except SystemExit as end:
                if end.code not in (None, 0):
                    raise


def takes_config(loop: Any) -> bool:
    """Return whether a training loop takes its config as an argument.

    Raises:
        UsageError: It needs further arguments.
    """
    try:
        parameters = inspect.signature(loop).parameters.values()
    except (TypeError, ValueError):  # written in C: its signature is unknown
        return True
    no_value = inspect.Parameter.empty
    needed = [
        one
        for one in parameters
        if one.default is no_value and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if len(needed) > 1 or any(one.kind is one.KEYWORD_ONLY for one in needed):
        raise UsageError(
            f"train_loop_per_worker needs {', '.join(one.name for one in needed)}: it gets the config alone; "
            "bind other arguments by functools.partial"
        )
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    return any(one.kind in by_position for one in parameters)


def range_of_ranks(scaling: ScalingConfig) -> tuple[int, int]:
    """Return the least and the greatest number of ranks.

    Raises:
        ArgumentError: `num_workers` is neither a whole number above 0 nor a pair of them.
    """
    try:
        least, most = worker_range(1 if scaling.num_workers is None else scaling.num_workers)
    except ResourceError as error:
        raise ArgumentError(str(error)) from None
    if least < 1:
        raise ArgumentError(f"num_workers={scaling.num_workers!r}: must be a whole number, 1 or more")
    return least, most


def resources_of(scaling: ScalingConfig) -> Resources:
    """Return the bundles of the head and of the most ranks; by default the head, which waits, has nothing."""
    _, most = range_of_ranks(scaling)
    _, *workers = replace(scaling, num_workers=most).bundles
    bundles = [dict(scaling.trainer_resources or {}), *workers]
    return scaling.elastic(Resources.of(bundles, scaling.placement_strategy))


def with_changes(scaling: ScalingConfig, changes: ScalingConfig | Mapping[str, Any]) -> ScalingConfig:
    """Return `scaling` with the values of a trial's config.

    Raises:
        ResourceError: A name is not one of ScalingConfig's.
    """
    if isinstance(changes, ScalingConfig):
        return changes
    names = list(ScalingConfig.__dataclass_fields__)
    for name in changes:
        if name not in names:
            raise ResourceError(f"scaling_config has no {name!r}{nearest(name, names)}")
    return replace(scaling, **changes)
