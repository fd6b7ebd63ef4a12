"""Options of a run as `Tuner` takes them: storage, failures, checkpoints, output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError
from overtone.tune.syncer import SyncConfig


@dataclass
class CheckpointConfig:
    """Checkpoint settings: when trials save, and which checkpoints are kept.

    Attributes:
        num_to_keep: Number of checkpoints kept per trial, in addition to the newest; at least 1.
            None keeps all requested checkpoints, and the best and the two newest automatic ones.
        checkpoint_score_attribute: The metric by which kept checkpoints are chosen; None for
            the newest.
        checkpoint_score_order: "max" or "min": whether high or low values of that metric are kept.
        checkpoint_frequency: Iterations between two checkpoints; 0 for never. None saves automatically,
            with a target of at most 5 % overhead. If one save takes longer than about 30 s, a trial
            saves every 10 minutes.
        checkpoint_at_end: Whether class trainables save when a trial ends. None saves if
            checkpoint_frequency is None and the trial ran for 10 s or more.
        max_disk: Limit for the checkpoints of all trials together, such as "20GB".
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
    """Failure settings: retries, and whether a failed trial ends the search.

    Attributes:
        max_failures: Maximum number of retries of a failed trial; -1 for no limit.
        fail_fast: True ends the search, and within seconds all trials, at the first failed trial;
            "raise" also raises its error.
    """

    max_failures: int = 0
    fail_fast: bool | str = False


@dataclass
class ScalingConfig:
    """Resources of a trial that starts workers: given to `tune.with_resources`.

    Attributes:
        trainer_resources: Resources of the trial's own process, such as {"CPU": 1} (the default).
        num_workers: Number of workers that the trial starts.
        use_gpu: Whether each worker needs 1 GPU, if `resources_per_worker` has no "GPU".
        resources_per_worker: Resources of each worker; 1 CPU when None.
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
    """Run settings: name, storage, failures, checkpoints and output.

    Attributes:
        name: The experiment's folder below `storage_path`.
        storage_path: The folder of all experiments; `~/overtone_results` when None.
        failure_config: Retries, and whether a failed trial ends the search.
        checkpoint_config: When trials save, and which checkpoints are kept.
        sync_config: Accepted; see `SyncConfig`.
        progress_reporter: A reporter that shows the state of the run.
        stop: Criteria as a dict, a callable, a Stopper, or a list of these.
        callbacks: `Callback`s, called during the run.
        verbose: 0 for no output, 1 for the table, 2 and 3 for more; None for the default.
        log_to_file: True for files "stdout" and "stderr" of each trial, or their names.
        local_dir: The old name of `storage_path`.
        storage_filesystem: Accepted; local paths only.
        engine: The engine that runs the trials, as in `tune.run`.
        trial_limits: As in `TuneConfig`; set it in only one of the two.
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
