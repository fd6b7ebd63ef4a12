"""The light trial that callbacks and reporters get: a window on a row of the trial table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.resources import Resources
from overtone.core.table import Row, full_result
from overtone.core.trial import ShownStatuses, Status
from overtone.core.types import Checkpoint, Metrics
from overtone.observers.columns import chosen
from overtone.store.folder_mark import FolderMark


class Experiment:
    """Facts that all trials of an experiment share.

    Attributes:
        name: The trainable's name.
        folder: The experiment's folder.
        parameters: The paths that the search chooses; None for all of a config.
        open_checkpoint: Returns the value of `trial.checkpoint` for a reference.
        ask_to_save: Called with the id of a trial that should save.
        summary: Returns the value of `trial.metric_analysis` for a trial's id.
    """

    __slots__ = ("ask_to_save", "folder", "name", "open_checkpoint", "parameters", "summary")

    def __init__(
        self,
        name: str,
        folder: str,
        parameters: Iterable[str] | None = None,
        open_checkpoint: Callable[[Checkpoint], Any] | None = None,
        ask_to_save: Callable[[str], None] | None = None,
        summary: Callable[[str], dict[str, dict[str, float]]] | None = None,
    ) -> None:
        self.name = name
        self.folder = folder
        self.parameters = None if parameters is None else tuple(parameters)
        self.open_checkpoint = open_checkpoint or (lambda checkpoint: checkpoint)
        self.ask_to_save = ask_to_save or (lambda trial_id: None)
        self.summary = summary or (lambda trial_id: {})


class SeenTrial(ShownStatuses):
    """A trial as callbacks and reporters see it, under the names that users know.

    Nothing of it can be set; `checkpoint_now` asks it to save.
    """

    __slots__ = ("_earlier", "_experiment", "_row")

    def __init__(self, row: Row, experiment: Experiment) -> None:
        self._row = row
        self._experiment = experiment
        self._earlier: Metrics | None = None

    def show_earlier(self, metrics: Metrics | None) -> None:
        """Let `last_result` be of these metrics, empty before the first; None for those of the table."""
        self._earlier = metrics

    @property
    def trial_id(self) -> str:
        """Such as "358bb_00006"."""
        return self._row.id

    @property
    def config(self) -> dict[str, Any]:
        """The trial's hyperparameters."""
        return self._row.config

    @property
    def evaluated_params(self) -> dict[str, Any]:
        """The values that the search chose, by path ("optimizer/lr")."""
        return chosen(self._row.config, self._experiment.parameters)

    @property
    def status(self) -> str:
        """PENDING, RUNNING, PAUSED, TERMINATED or ERROR."""
        return Status(self._row.status).shown

    @property
    def metrics(self) -> Metrics:
        """The last reported metrics only; empty before the first report."""
        return self._row.metrics

    @property
    def last_result(self) -> dict[str, Any]:
        """The trial's last result with its own constant facts and config; empty before the first.

        In `on_trial_result` it is the result before the one that the hook is called for.
        """
        row, earlier = self._row, self._earlier
        if not row.n_results or (earlier is not None and not earlier):
            return {}
        return {**full_result(row, row.metrics if earlier is None else earlier), "done": row.is_final}

    @property
    def metric_analysis(self) -> dict[str, dict[str, float]]:
        """`{metric: {"max", "min", "avg", "last", "last-5-avg", "last-10-avg"}}`, read from the journal.

        The journal is written in batches: it may contain results that callbacks get later.
        """
        return self._experiment.summary(self._row.id)

    @property
    def checkpoint(self) -> Any:
        """The trial's newest checkpoint, or None."""
        newest = self._row.checkpoint
        return None if newest is None else self._experiment.open_checkpoint(newest)

    def has_checkpoint(self) -> bool:
        """Return whether it has a checkpoint, its own or the one from which it started."""
        return self._row.checkpoint is not None

    def checkpoint_now(self) -> None:
        """Have it save: now if it waits for an answer to its report, else at its next report.

        A function saves where it asks `tune.should_checkpoint()`. A trial that has no process any
        more, or that is simulated, does not save.
        """
        self._experiment.ask_to_save(self._row.id)

    def is_finished(self) -> bool:
        """Return whether it ended for good."""
        return self._row.is_final

    @property
    def location(self) -> str:
        """Address and pid, as in "89.72.32.13:12113", while its process runs, else empty."""
        row = self._row
        return f"{row.node_ip}:{row.pid}" if row.pid and Status(row.status).is_placed else ""

    @property
    def resources(self) -> Resources:
        """The requested resources."""
        return self._row.resources

    @property
    def placement_group_factory(self) -> PlacementGroupFactory:
        """The requested resources as a placement group."""
        return PlacementGroupFactory.of(self._row.resources)

    @property
    def experiment_tag(self) -> str:
        """Such as "6_lr=0.01"."""
        return self._row.tag

    @property
    def trainable_name(self) -> str:
        """The trainable's name."""
        return self._experiment.name

    @property
    def local_experiment_path(self) -> str:
        """The experiment's folder."""
        return self._experiment.folder

    local_dir = local_experiment_path

    @property
    def experiment_dir_name(self) -> str:
        """The name of the experiment's folder."""
        return os.path.basename(self._experiment.folder)

    @property
    def local_path(self) -> str:
        """The trial's folder."""
        return os.path.join(self._experiment.folder, self._row.id)

    logdir = path = local_path

    def init_local_path(self) -> None:
        """Make its folder, if it is missing."""
        FolderMark.of(self._experiment.folder).make(self._row.id)

    init_logdir = init_local_path

    @property
    def num_results(self) -> int:
        """The number of reported results."""
        return self._row.n_results

    @property
    def error(self) -> str:
        """The failure of the trial in one line; "" if it did not fail."""
        return self._row.error

    @property
    def error_file(self) -> str | None:
        """The file with its traceback, once something went wrong."""
        return os.path.join(self.local_path, "error.txt") if self._row.error else None

    @property
    def num_failures(self) -> int:
        """The number of restarts, plus the failure that ended the trial."""
        return self._row.attempt

    def __str__(self) -> str:
        return self._row.name or f"{self._experiment.name}_{self._row.id}"

    __repr__ = __str__
