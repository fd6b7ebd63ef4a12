"""One trial's outcome, as a `ResultGrid` gives it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.analysis.aim import check_reported, chosen
from overtone.analysis.ranking import best_first
from overtone.analysis.recorded_trial import RecordedTrial
from overtone.errors import StorageError, TuneError
from overtone.reading.journal_index import JournalIndex
from overtone.reading.location import JOURNAL, located

if TYPE_CHECKING:
    from overtone.worker.checkpoints.checkpoint import Checkpoint


class Result:
    """The outcome of a trial, made by a `ResultGrid` or with `Result.from_path`.

    Args:
        trial: The trial.
        default_metric, default_mode: The experiment's goal, if it is known.
    """

    def __init__(
        self, trial: RecordedTrial, default_metric: str | None = None, default_mode: str | None = None
    ) -> None:
        self._trial = trial
        self._goal = (default_metric, default_mode)

    @classmethod
    def from_path(cls, path: str | os.PathLike[str]) -> Result:
        """Return the outcome of the trial whose folder is `path`.

        Raises:
            StorageError: `path` is not a trial's folder.
        """
        folder = Path(path).expanduser().absolute()
        if not (folder.parent / JOURNAL).is_file():
            raise StorageError(f"{str(path)!r} is no folder of a trial: {folder.parent} has no {JOURNAL}")
        index = JournalIndex(located(folder.parent))
        index.refresh()
        row = index.table.rows.get(folder.name)
        if row is None:
            raise StorageError(f"experiment {folder.parent} has no trial {folder.name!r}")
        return cls(RecordedTrial(row.id, index))

    @property
    def metrics(self) -> dict[str, Any]:
        """Its last result, with its constant facts and config; empty where it reported nothing."""
        return self._trial.last_result

    @property
    def config(self) -> dict[str, Any]:
        """Its hyperparameters."""
        return self._trial.config

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Its newest checkpoint."""
        return self._trial.checkpoint

    @property
    def error(self) -> Exception | None:
        """The trial's error, with the user's own traceback; None if the trial did not fail."""
        trial = self._trial
        if trial.status != "ERROR":
            return None
        text = f"trial {trial.trial_id} failed: {trial.error or 'no reason is on record'}"
        return TuneError(f"{text}\n{trial.traceback}" if trial.traceback else text)

    @property
    def path(self) -> str:
        """Its folder, where the experiment lies now."""
        return self._trial.local_path

    @property
    def metrics_dataframe(self) -> Any:
        """A frame of all its results."""
        return self._trial.frame()

    @property
    def best_checkpoints(self) -> list[tuple[Checkpoint, dict[str, Any]]]:
        """Its checkpoints that are kept, oldest first, each with the result that it was saved with."""
        return self._trial.checkpoints()

    def get_best_checkpoint(self, metric: str | None = None, mode: str | None = None) -> Checkpoint | None:
        """Return the checkpoint with the best value of the metric; None if there is none.

        Raises:
            GoalError: The trial never reported the metric, or no metric is named and several are possible.
        """
        metric, mode = chosen(metric, mode, self._goal, [self.metrics])
        ranked = best_first(self._trial.checkpoints(), metric, mode)
        if not ranked:
            check_reported(metric, self._trial.results())
        return ranked[0][0] if ranked else None

    def __repr__(self) -> str:
        trial = self._trial
        return f"Result({trial.trial_id} {trial.status}, {trial.num_results} results, path={self.path!r})"
