"""The outcome of a trial, as a `ResultGrid` gives it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.analysis.aim import check_reported, chosen
from overtone.analysis.no_result import NoBestError, NoTrialError
from overtone.analysis.ranking import best_first
from overtone.analysis.recorded_trial import RecordedTrial
from overtone.analysis.trial_parts import check_local
from overtone.core.goal import Goal
from overtone.reading.journal_index import JournalIndex
from overtone.reading.location import located
from overtone.store.files import is_url
from overtone.store.folder_mark import JOURNAL
from overtone.worker.checkpoints.arrow_files import local_filesystem

if TYPE_CHECKING:
    from overtone.worker.checkpoints.checkpoint import Checkpoint


class Result:
    """The outcome of a trial, made by a `ResultGrid` or with `Result.from_path`.

    What it holds is read when it is first asked for, and then stays as it is.

    Args:
        trial: The trial; None for an outcome that consists of the other values.
        default_metric: The metric of the experiment, if it is known.
        default_mode: "max" or "min" of `default_metric`.
        metrics: Replaces the attribute of that name, like the following arguments.
        checkpoint: The newest checkpoint.
        error: The trial's error.
        path: The trial's folder.
        metrics_dataframe: A frame of all results.
        best_checkpoints: Checkpoints and the results that they were saved with.
    """

    def __init__(
        self,
        trial: RecordedTrial | None = None,
        default_metric: str | None = None,
        default_mode: str | None = None,
        *,
        metrics: dict[str, Any] | None = None,
        checkpoint: Checkpoint | None = None,
        error: Exception | None = None,
        path: str | None = None,
        metrics_dataframe: Any = None,
        best_checkpoints: list[tuple[Checkpoint, dict[str, Any]]] | None = None,
        _storage_filesystem: Any = None,
    ) -> None:
        self._goal = (default_metric, default_mode)
        self._trial = trial
        values = {
            "metrics": metrics, "checkpoint": checkpoint, "error": error, "path": path,
            "metrics_dataframe": metrics_dataframe, "best_checkpoints": best_checkpoints,
            "config": (metrics or {}).get("config"),
        }  # fmt: skip
        given = {name: value for name, value in values.items() if trial is None or value is not None}
        if _storage_filesystem is not None:
            given["filesystem"] = _storage_filesystem
        vars(self).update(given)  # where a cached property finds its value

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], storage_filesystem: Any = None) -> Result:
        """Return the outcome of the trial whose folder is `path`.

        Args:
            path: The trial's folder, or its URL.
            storage_filesystem: Must be None or pyarrow's local file system; elsewhere, `path` is a URL.

        Raises:
            StorageError: `path` is not a trial's folder.
        """
        check_local(storage_filesystem)
        given = os.fspath(path).rstrip("/")
        if is_url(given):
            experiment, _, name = given.rpartition("/")
            index = JournalIndex(located(experiment), url=experiment)
        else:
            folder = Path(given).expanduser().absolute()
            experiment, name = str(folder.parent), folder.name
            if not (folder.parent / JOURNAL).is_file():
                raise NoTrialError(f"{given!r} is not the folder of a trial: {experiment} has no {JOURNAL}")
            if folder.is_symlink():  # a name that the user gave
                name = os.readlink(folder)
            index = JournalIndex(located(folder.parent))
        index.refresh()
        row = index.table.rows.get(name)
        if row is None:
            raise NoTrialError(f"experiment {experiment} has no trial {name!r}")
        return cls(RecordedTrial(row.id, index))

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The trial's last result, with its constant facts and config; empty where it reported nothing."""
        return self._recorded.last_result

    @cached_property
    def config(self) -> dict[str, Any]:
        """The trial's hyperparameters."""
        return self._recorded.config

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """The trial's newest checkpoint."""
        return self._recorded.checkpoint

    @cached_property
    def error(self) -> Exception | None:
        """The trial's error, with the user's own traceback; None if the trial did not fail.

        A `TrialError` with the type's name and text. If the trial raised a builtin exception, the error
        is an instance of that class, too: `isinstance(result.error, ValueError)`.
        """
        return self._recorded.exception() if self._recorded.status == "ERROR" else None

    @cached_property
    def path(self) -> str:
        """The trial's folder, where the experiment lies now."""
        return self._recorded.local_path

    @property
    def log_dir(self) -> Path:
        """`path` under its first name, as a Path."""
        return Path(self.path)

    @cached_property
    def filesystem(self) -> Any:
        """The file system of `path`, as pyarrow has it.

        Raises:
            MissingPackageError: pyarrow is not installed.
        """
        return local_filesystem()

    @cached_property
    def metrics_dataframe(self) -> Any:
        """A frame of all its results."""
        return self._recorded.frame()

    @cached_property
    def best_checkpoints(self) -> list[tuple[Checkpoint, dict[str, Any]]]:
        """The trial's checkpoints that are kept, each with the result that it was saved with.

        In ascending order of `checkpoint_score_attribute`; without one, oldest first.
        """
        return [tuple(one) for one in self._recorded.saved_results().best_checkpoint_results]  # type: ignore[misc]

    def get_best_checkpoint(self, metric: str | None = None, mode: str | None = None) -> Checkpoint:
        """Return the checkpoint with the best value of the metric.

        Raises:
            GoalError: There is no checkpoint, none of them has the metric, or no metric is named and
                several are possible. It is a RuntimeError, too, unless the metric is not known.
        """
        if not self.best_checkpoints:
            raise NoBestError(f"trial {self.path} has no checkpoint")
        Goal(mode=mode)  # refuses what is not a mode
        metric, mode = chosen(metric, mode, self._goal, [self.metrics or {}])
        ranked = best_first(self.best_checkpoints, metric, mode)
        if not ranked:
            check_reported(metric, [result for _, result in self.best_checkpoints])
            raise NoBestError(f"no checkpoint of {self.path} was saved with a number as {metric!r}")
        return ranked[0][0]

    @property
    def _recorded(self) -> RecordedTrial:
        assert self._trial is not None  # else each attribute has its value
        return self._trial

    def __repr__(self) -> str:
        trial = self._trial
        if trial is None:
            values = [(name, vars(self)[name]) for name in ("metrics", "error", "path", "checkpoint")]
            return f"Result({', '.join(f'{name}={one!r}' for name, one in values if one is not None)})"
        return f"Result({trial.trial_id} {trial.status}, {trial.num_results} results, path={self.path!r})"
