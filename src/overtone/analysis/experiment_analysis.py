"""The return value of `tune.run`: the ranked trials of an experiment, and their results as frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overtone.analysis.aim import check_reported, chosen
from overtone.analysis.best_trial import best_trial
from overtone.analysis.each_result import last_frame, last_results, reported_frame
from overtone.analysis.frames import ByTrial, TrialFrames, flatten, frame, has_number
from overtone.analysis.no_result import NoBestError
from overtone.analysis.objectives import front, volume
from overtone.analysis.ranking import best_first
from overtone.analysis.recorded_experiment import RecordedExperiment
from overtone.analysis.recorded_trial import RecordedTrial
from overtone.analysis.summary import SCOPES
from overtone.core.goal import Goal, lookup
from overtone.errors import ArgumentError, GoalError, OvertoneError
from overtone.reading.recorded_goal import recorded_objectives

if TYPE_CHECKING:
    from overtone.analysis.plot_page import PlotPage
    from overtone.reading.columns.trial_columns import TrialColumns
    from overtone.worker.checkpoints.checkpoint import Checkpoint

_NEWEST = "training_iteration"
_FRAMES = "trial_dataframes"


class ExperimentAnalysis(RecordedExperiment):
    """The results of an experiment, from its folder: running, finished, or a copy.

    See `RecordedExperiment` for the arguments.
    """

    def get_best_trial(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> RecordedTrial | None:
        """Return the trial with the best value of the metric; None (and a warning) where none has one.

        A single trial is the best one, whatever it reported; there is a warning if it has no value.

        Args:
            metric: By default that of the experiment.
            mode: "max" or "min"; by default that of the experiment, also for another metric.
            scope: Compare each trial's "last" value, the "avg" of all its values, its
                "last-5-avg" or "last-10-avg", or with "all" its best one.
            filter_nan_and_inf: Whether NaN and infinite values are passed over. If not, NaN is the worst.

        Raises:
            GoalError: No trial reported the metric, or it cannot be told which is meant.
        """
        if scope not in SCOPES:
            raise GoalError(f"scope={scope!r}: choose one of {', '.join(map(repr, SCOPES))}")
        trials = self.trials
        is_only = len(trials) == 1 and not self._constraints and mode in (None, "max", "min")
        try:
            asked = (*self._aim(metric, mode), scope, filter_nan_and_inf)
            best: RecordedTrial | None = self._cache.get(asked) or best_trial(self._index, trials, *asked)
            if best is None:
                check_reported(asked[0], self._each_result())
        except GoalError as error:
            if not is_only:
                raise
            reason = str(error)
        else:
            if best is not None:
                self._cache[asked] = best
                return best
            none = "none that keeps the constraints" if self._constraints else "none"
            kind = "a finite number" if filter_nan_and_inf else "a number"
            reason = f"{none} reported {asked[0]!r} as {kind}"
        import warnings

        if is_only:
            warnings.warn(f"the only trial is the best one, although {reason}", stacklevel=2)
            return trials[0]
        warnings.warn(f"there is no best trial: {reason}", stacklevel=2)
        return None

    @property
    def _constraints(self) -> tuple[str, ...]:
        return recorded_objectives(self._index.header).constraints

    def pareto_front(
        self, metric: Sequence[str] | None = None, mode: str | Sequence[str] | None = None
    ) -> list[RecordedTrial]:
        """Return the trials whose last results no other dominates, in the order of creation.

        By default by all metrics of the experiment; trials that break its constraints are left out.
        """
        return front(self.trials, self._objectives(metric, mode))

    def hypervolume(
        self,
        reference: Sequence[float] | None = None,
        metric: Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None,
    ) -> float:
        """Return the volume of objectives between the Pareto front and `reference`.

        Args:
            reference: A value for each metric that all good results are better than; by default the
                worst of each that a trial ended with.
        """
        return volume(self.trials, self._objectives(metric, mode), reference)

    def get_best_config(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> dict[str, Any] | None:
        """Return the config of `get_best_trial(...)`."""
        best = self.get_best_trial(metric, mode, scope, filter_nan_and_inf)
        return None if best is None else best.config

    def get_best_logdir(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> str | None:
        """Return the folder of `get_best_trial(...)`."""
        best = self.get_best_trial(metric, mode, scope, filter_nan_and_inf)
        return None if best is None else best.local_path

    def get_all_configs(self, prefix: bool = False) -> dict[str, dict[str, Any]]:
        """Return every trial's config by its id or folder; with `prefix`, flat and under "config/..."."""
        configs = {
            one.trial_id: flatten({"config": one.config}) if prefix else one.config for one in self.trials
        }
        return ByTrial(configs, self._ids_by_folder())

    @property
    def best_trial(self) -> RecordedTrial:
        """The trial that was best at its end.

        Raises:
            GoalError: There is none, or it cannot be told which metric is meant.
        """
        best = self.get_best_trial()
        if best is None:
            raise NoBestError(f"there is no best trial among {len(self.trials)}: none has a finite number")
        return best

    @property
    def best_config(self) -> dict[str, Any]:
        """The config of the best trial."""
        return self.best_trial.config

    @property
    def best_logdir(self) -> str:
        """The folder of the best trial."""
        return self.best_trial.local_path

    @property
    def best_result(self) -> dict[str, Any]:
        """The last result of the best trial."""
        return self.best_trial.last_result

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """Every trial's last result by its id; empty before the first."""
        every = last_results(self._index, self._all_trials())
        return {one.trial_id: dict(last) if "timesteps_total" in last else {} for one, last in every}

    # --- checkpoints -------------------------------------------------------------------

    @property
    def best_checkpoint(self) -> Checkpoint | None:
        """The best checkpoint of the best trial; None where it saved none."""
        best: Checkpoint | None = self.get_best_checkpoint(self.best_trial)
        return best

    def get_best_checkpoint(
        self, trial: Any, metric: str | None = None, mode: str | None = None, return_path: bool = False
    ) -> Any:
        """Return the trial's checkpoint with the best value of the metric; None if there is none.

        Args:
            trial: A trial, its id or its folder.
            metric: By default that of the experiment, or else "training_iteration".
            mode: "max" or "min"; by default that of the experiment.
            return_path: Whether to return the checkpoint's directory instead.
        """
        try:
            metric, mode = self._aim(metric, mode)
        except GoalError:
            if metric is not None or mode not in (None, "max", "min"):
                raise
            metric, mode = _NEWEST, mode or "max"
        ranked = best_first(self._find(trial).checkpoints(), metric, mode)
        if not ranked:
            check_reported(metric, self._each_result())
        best = ranked[0][0] if ranked else None
        return best.path if best is not None and return_path else best

    def get_last_checkpoint(
        self, trial: Any = None, metric: str | None = "training_iteration", mode: str | None = None
    ) -> Checkpoint | None:
        """Return the newest checkpoint of a trial.

        Args:
            trial: A trial, its id or its folder; by default the best trial by `metric` and `mode`.
            metric: By default the number of results.
            mode: "max" or "min"; by default "max" for "training_iteration", else as in `get_best_trial`.
        """
        if trial is not None:
            return self._find(trial).checkpoint
        found = self.get_best_trial(metric, mode or ("max" if metric == _NEWEST else None))
        return None if found is None else found.checkpoint

    def get_trial_checkpoints_paths(self, trial: Any, metric: str | None = None) -> list[tuple[str, Any]]:
        """Return (directory, value of the metric) of each of a trial's checkpoints, oldest first."""
        name = metric or self.default_metric or _NEWEST
        return [(saved.path, lookup(result, name)) for saved, result in self._find(trial).checkpoints()]

    def pack(
        self,
        to: str | os.PathLike[str],
        trial: Any = None,
        metric: str | None = None,
        mode: str | None = None,
    ) -> str:
        """Write a checkpoint with its config and provenance to a new folder, for `overtone.load_pack`.

        Args:
            to: The folder, which is written whole or not at all.
            trial: A trial, its id or its folder; by default the best trial.
            metric: Chooses the trial and its best checkpoint; by default that of the experiment.
            mode: "max" or "min"; by default that of the experiment.

        Returns:
            The sha256 of the pack, 64 hexadecimal digits.

        Raises:
            GoalError: There is no best trial, the trial has no checkpoint, or it cannot be told which metric
                is meant.
            StorageError: The checkpoint is damaged, or the folder exists or cannot be written.
        """
        from overtone.analysis.packing import pack_trial

        try:
            metric, mode = self._aim(metric, mode)
        except GoalError:
            if metric is not None or trial is None:
                raise
        found = self.get_best_trial(metric, mode) if trial is None else self._find(trial)
        if found is None:
            raise NoBestError(f"there is no best trial to pack among {len(self.trials)} by metric {metric!r}")
        return pack_trial(found, to, metric, mode)

    # --- frames ------------------------------------------------------------------------

    @property
    def results_df(self) -> Any:
        """A frame of every trial's last result, by trial_id; "config/lr" and the like are columns."""
        return last_frame(self._index, self._all_trials())

    def dataframe(self, metric: str | None = None, mode: str | None = None) -> Any:
        """Return a frame with one result of each trial that reported, with its config and "logdir".

        Args:
            metric: Take the result with the best value of this; needs `mode`. By default
                the last result is taken.
            mode: "max" or "min".

        Raises:
            GoalError: The mode is unknown, or given without a metric, or no trial reported the metric.
        """
        if mode is not None and mode not in ("max", "min"):
            raise GoalError(f'mode={mode!r}: choose "max" or "min"')
        if mode is not None and metric is None:
            raise GoalError(f"dataframe(mode={mode!r}) needs a metric, too")
        made = reported_frame(self._index, self._all_trials(), metric, mode)
        if metric is not None and not has_number(made, metric):
            check_reported(metric, self._each_result())
        return made

    @property
    def trial_dataframes(self) -> TrialFrames:
        """Every trial's frame of all its results, by its id; its folder is also accepted as a key."""
        found: TrialFrames | None = self._cache.get(_FRAMES)
        if found is None:
            found = self._cache[_FRAMES] = TrialFrames(self._ids_by_folder(), self._frame_of)
        return found

    def fetch_trial_dataframes(self) -> TrialFrames:
        """Read `trial_dataframes` again and return it."""
        self._cache.pop(_FRAMES, None)
        return self.trial_dataframes

    @property
    def best_dataframe(self) -> Any:
        """The frame of all results of the best trial."""
        return self.trial_dataframes[self.best_trial.trial_id]

    @property
    def best_result_df(self) -> Any:
        """A frame of one row, the last result of the best trial."""
        return frame([flatten(self.best_result)], index="trial_id")

    def set_filetype(self, file_type: str | None = None) -> None:
        """Accept the file type of older scripts without effect: results come from the journal.

        Raises:
            ArgumentError: `file_type` is neither "json" nor "csv".
        """
        if file_type not in (None, "json", "csv"):
            raise ArgumentError(f'file_type={file_type!r}: choose "json" or "csv"; neither is needed')

    def schedule_of(self, trial: Any = None) -> tuple[dict[str, Any], list[tuple[float, dict[str, Any]]]]:
        """Return the first config of a trial's line of ancestors, and each later one with its t.

        Args:
            trial: A trial, or its id; by default the best one.

        Raises:
            OvertoneError: No trial is named, and there is no best trial.
        """
        found = self._find(trial) if trial is not None else self.get_best_trial()
        if found is None:
            raise OvertoneError("no best trial is known: pass the trial whose schedule to return")
        return self._index.lineage().schedule(found.trial_id)

    def plot(self) -> PlotPage:
        """Return a page with the useful plots of the experiment: a notebook shows it, `save(path)` writes it.

        `tune.plots` has each plot as a figure of plotly or matplotlib.
        """
        from overtone.analysis.plot_page import PlotPage
        from overtone.analysis.scenes.catalogue import page_scenes

        columns = self.trial_columns()
        return PlotPage(columns.name, page_scenes(columns))

    def trial_columns(self) -> TrialColumns:
        """Return the trials as columns: arrays with a row for each trial, which plots are computed from."""
        from overtone.analysis.first_goal import with_goal
        from overtone.reading.columns.opening import open_columns
        from overtone.reading.columns.restricted import restricted

        columns = open_columns(self.experiment_path)
        if self._lookup.only is not None:
            columns = restricted(columns, self._lookup.only)
        if self.default_metric is None or self.default_mode is None:
            return columns
        return with_goal(columns, self.default_metric, self.default_mode)

    def _repr_html_(self) -> str:
        from overtone.analysis.page.summary import summary

        return summary(
            self.trial_columns(), lambda trial_id: self._find(trial_id).config, self.experiment_path
        )

    def __repr__(self) -> str:
        return f"ExperimentAnalysis({self.experiment_path!r})"

    def _all_trials(self) -> list[RecordedTrial]:
        """Return all trials, of each of which one result will be asked for."""
        self._index.prefer_columns()
        return self.trials

    def _aim(self, metric: str | None, mode: str | None) -> tuple[str, str]:
        is_other = metric is not None and metric != self.default_metric
        default = (self.default_metric, None if is_other and self._is_inferred else self.default_mode)
        return chosen(metric, mode, default, (one.last_result for one in self.trials))

    def _objectives(self, metric: Sequence[str] | None, mode: str | Sequence[str] | None) -> Goal:
        recorded = recorded_objectives(self._index.header)
        if metric is None:
            metric, mode = recorded.metrics or self._aim(None, None)[:1], mode or recorded.modes
        return Goal(metric, mode, constraints=dict(zip(recorded.constraints, recorded.bounds, strict=True)))

    def _ids_by_folder(self) -> dict[str, str]:
        return {one.local_path: one.trial_id for one in self.trials}

    def _each_result(self) -> Iterator[Mapping[str, Any]]:
        return (result for one in self.trials for result in one.results())

    def _frame_of(self, trial_id: str) -> Any:
        return RecordedTrial(trial_id, self._index).frame()
