"""The options of a run as `Tuner` takes them: storage, failures, checkpoints, output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError
from overtone.tune.syncer import SyncConfig


@dataclass
class CheckpointConfig:
    """When trials save, and which checkpoints are kept.

    Attributes:
        num_to_keep: How many of a trial's checkpoints are kept, and its newest; None for all
            that were asked for, and the best and the two newest of those that were not.
        checkpoint_score_attribute: The metric by which the kept ones are chosen; None for
            the newest.
        checkpoint_score_order: "max" or "min" of that metric.
        checkpoint_frequency: Save every so many iterations; 0 for never; None for as often as
            it costs little: at most 5 % of a trial's time, at most 10 minutes of work lost.
        checkpoint_at_end: Class trainables save when a trial ends; None to do so where
            checkpoint_frequency is None and the trial ran for 10 s or more.
        max_disk: How much the checkpoints of all trials may take together, such as "20GB".
    """

    num_to_keep: int | None = None
    checkpoint_score_attribute: str | None = None
    checkpoint_score_order: str | None = "max"
    checkpoint_frequency: int | None = None
    checkpoint_at_end: bool | None = None
    max_disk: float | str | None = None

    def __post_init__(self) -> None:
        if self.num_to_keep is not None and self.num_to_keep < 1:
            raise OvertoneError(f"num_to_keep={self.num_to_keep!r}: keep None (all), 1 or more checkpoints")
        if self.checkpoint_score_order not in ("max", "min", None):
            raise OvertoneError(
                f"checkpoint_score_order={self.checkpoint_score_order!r}: choose 'max' or 'min'"
            )


@dataclass
class FailureConfig:
    """What happens when a trial fails.

    Attributes:
        max_failures: It is tried again so often; -1 for ever.
        fail_fast: End the search, and within seconds all trials, at the first failed one; "raise"
            does so and raises.
    """

    max_failures: int = 0
    fail_fast: bool | str = False


@dataclass
class ScalingConfig:
    """What a trial needs that starts workers of its own: given to `tune.with_resources`.

    Attributes:
        trainer_resources: What the trial's own process needs, such as {"CPU": 1}.
        num_workers: How many workers it starts.
        use_gpu: Whether each of them needs a GPU, where `resources_per_worker` does not say.
        resources_per_worker: What each of them needs; 1 CPU when None.
        placement_strategy: "PACK", "SPREAD", "STRICT_PACK" or "STRICT_SPREAD".
    """

    trainer_resources: Mapping[str, Any] | None = None
    num_workers: int | None = None
    use_gpu: bool = False
    resources_per_worker: Mapping[str, Any] | None = None
    placement_strategy: str = "PACK"

    @property
    def bundles(self) -> list[dict[str, Any]]:
        """The amounts of the trial's own process, then those of each worker."""
        worker = dict(self.resources_per_worker or {"CPU": 1})
        if self.use_gpu:
            worker.setdefault("GPU", 1)
        own = dict({"CPU": 1} if self.trainer_resources is None else self.trainer_resources)
        return [own, *([worker] * (self.num_workers or 0))]


@dataclass
class RunConfig:
    """The options of a run that are not about the search itself.

    Attributes:
        name: The experiment's folder below `storage_path`.
        storage_path: Where experiments lie; `~/overtone_results` when None.
        failure_config: What happens when a trial fails.
        checkpoint_config: When to save and what to keep.
        sync_config: Accepted; see `SyncConfig`.
        progress_reporter: Shows the state of the run.
        stop: Criteria as a dict, a callable, a Stopper, or a list of these.
        callbacks: `Callback`s, called as the run goes on.
        verbose: 0 silent, 1 the table, 2 and 3 more; None for the default.
        log_to_file: True for files "stdout" and "stderr" of each trial, or their names.
        local_dir: The old name of `storage_path`.
        storage_filesystem: Accepted; local paths only.
        engine: What runs the trials, as in `tune.run`.
        trial_limits: As in `TuneConfig`: give it to one of the two.
    """

    name: str | None = None
    storage_path: str | Path | None = None
    storage_filesystem: Any = None
    failure_config: FailureConfig | None = None
    checkpoint_config: CheckpointConfig | None = None
    sync_config: SyncConfig | None = None
    progress_reporter: Any = None
    stop: Any = None
    callbacks: Sequence[Any] | None = None
    verbose: int | None = None
    log_to_file: bool | str | Sequence[str] = False
    local_dir: str | Path | None = None
    engine: Any = field(default=None)
    trial_limits: Mapping[str, Any] | None = None
