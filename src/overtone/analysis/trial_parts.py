"""Parts of a recorded trial under the names of Ray Tune's trial: its storage and its run metadata."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from overtone.core.goal import is_number, lookup
from overtone.errors import StorageError
from overtone.space.data import DOMAIN
from overtone.worker.checkpoints.arrow_files import is_elsewhere, local_filesystem
from overtone.worker.checkpoints.checkpoint import Checkpoint


@dataclass(frozen=True)
class TrialStorage:
    """The places of a trial's files.

    Attributes:
        storage_fs_path: The folder that holds the experiment.
        experiment_dir_name: The name of the experiment's folder.
        trial_dir_name: The name of the trial's folder.
    """

    storage_fs_path: str
    experiment_dir_name: str
    trial_dir_name: str

    @property
    def storage_path(self) -> str:
        """The folder that holds the experiment."""
        return self.storage_fs_path

    @property
    def experiment_fs_path(self) -> str:
        """The experiment's folder."""
        return os.path.join(self.storage_fs_path, self.experiment_dir_name)

    experiment_driver_staging_path = experiment_fs_path

    @property
    def trial_fs_path(self) -> str:
        """The trial's folder."""
        return os.path.join(self.experiment_fs_path, self.trial_dir_name)

    trial_driver_staging_path = trial_fs_path

    @property
    def storage_filesystem(self) -> Any:
        """The file system of these paths, as pyarrow has it."""
        return local_filesystem()


class SavedResult(NamedTuple):
    """A checkpoint with the result that it was saved with.

    Attributes:
        checkpoint: The checkpoint.
        metrics: The result; empty if the checkpoint was saved without one.
    """

    checkpoint: Checkpoint
    metrics: dict[str, Any]


@dataclass(frozen=True)
class SavedResults:
    """A trial's checkpoints, from the worst to the best.

    Attributes:
        best_checkpoint_results: The checkpoints in ascending order of `checkpoint_score_attribute`;
            without one, oldest first.
        latest_checkpoint_result: The newest checkpoint, or None.
    """

    best_checkpoint_results: list[SavedResult]
    latest_checkpoint_result: SavedResult | None

    @property
    def best_checkpoint_result(self) -> SavedResult | None:
        """The best checkpoint; without a score attribute, the newest; None if there is none."""
        return self.best_checkpoint_results[-1] if self.best_checkpoint_results else None


class RunMetadata:
    """Facts about a trial's run, each read when it is asked for.

    Args:
        trial: The `RecordedTrial`.
        began: When the experiment began, in seconds since 1970.
        started: When the trial first started, in seconds from then on; None before.
    """

    pickled_error_filename = None

    def __init__(self, trial: Any, began: float, started: float | None) -> None:
        self._trial = trial
        self.start_time = None if started is None else began + started

    @property
    def checkpoint_manager(self) -> SavedResults:
        """The trial's checkpoints."""
        saved: SavedResults = self._trial.saved_results()
        return saved

    @property
    def error_filename(self) -> str | None:
        """The name of the file with the trial's traceback; None if it never failed."""
        file = self._trial.error_file
        return None if file is None else os.path.basename(file)

    @property
    def last_result(self) -> dict[str, Any]:
        """The trial's last result."""
        last: dict[str, Any] = self._trial.last_result
        return last

    @property
    def last_result_time(self) -> float | None:
        """Time of the last result, in seconds since 1970; None before the first."""
        return self.last_result.get("timestamp")

    @property
    def metric_analysis(self) -> dict[str, dict[str, float]]:
        """See `RecordedTrial.metric_analysis`."""
        found: dict[str, dict[str, float]] = self._trial.metric_analysis
        return found

    @property
    def num_failures(self) -> int:
        """The number of failures."""
        return int(self._trial.num_failures)

    @property
    def num_failures_after_restore(self) -> int:
        """0: failures are counted for the whole experiment."""
        return 0


def by_score(
    saved: list[tuple[Checkpoint, dict[str, Any]]], metric: str | None, mode: str
) -> list[tuple[Checkpoint, dict[str, Any]]]:
    """Return checkpoints in ascending order of a metric; those without it, and NaN, come first."""
    if metric is None:
        return saved
    sign = -1 if mode == "min" else 1

    def score(one: tuple[Checkpoint, dict[str, Any]]) -> tuple[bool, float]:
        value = lookup(one[1], metric)
        is_known = is_number(value) and value == value
        return is_known, sign * value if is_known else 0.0

    return sorted(saved, key=score)


def searched_values(space: Any, config: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a config that come from domains and grids, each with its path ("model/lr").

    Args:
        space: The space as a journal has it.
        config: The config.
    """
    if isinstance(space, Mapping):
        if DOMAIN in space or space.keys() == {"grid_search"}:
            yield path, config
        elif isinstance(config, Mapping):
            for name, inner in space.items():
                if name in config:
                    yield from searched_values(inner, config[name], f"{path}/{name}".lstrip("/"))
    elif isinstance(space, list) and isinstance(config, (list, tuple)):
        for index, (inner, item) in enumerate(zip(space, config, strict=False)):
            yield from searched_values(inner, item, f"{path}/{index}".lstrip("/"))


def check_local(filesystem: Any) -> None:
    """Refuse a pyarrow file system other than the local one.

    Raises:
        StorageError: It is another one.
    """
    if is_elsewhere(filesystem):
        raise StorageError(
            f'storage_filesystem={filesystem!r:.100}: pass the URL of the folder instead, such as "s3://b/exp"'
        )
