"""The return value of `tune.run`: the ranked trials of an experiment, and their results as frames."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overtone.analysis.aim import check_reported, chosen
from overtone.analysis.frames import TrialFrames, flatten, frame
from overtone.analysis.objectives import front, volume
from overtone.analysis.ranking import best_first, best_result
from overtone.analysis.recorded_trial import RecordedTrial
from overtone.analysis.summary import SCOPES
from overtone.core.goal import Goal, is_number, lookup
from overtone.errors import ArgumentError, GoalError, OvertoneError
from overtone.reading.journal_index import JournalIndex
from overtone.reading.location import located
from overtone.reading.recorded_goal import first, recorded_goal, recorded_objectives

if TYPE_CHECKING:
    from overtone.journal.codec import Codec
    from overtone.worker.checkpoints.checkpoint import Checkpoint

_INFINITE = (math.inf, -math.inf)


class ExperimentAnalysis:
    """The results of an experiment, from its folder: running, finished, or a copy.

    The journal is read on first use, and again at `refresh()`.

    Args:
        path: The experiment's folder, its journal, or the URL of its mirror.
        default_metric: The metric that ranks trials if a call names none; by default the
            experiment's metric, or else the only possible one.
        default_mode: "max" or "min" of `default_metric`.
        trials: Trials, or their ids, to which the analysis is restricted; None for all.
        codec: Restores values in configs that are not data (classes, functions); without it
            configs have the journal's description of such values.

    Raises:
        StorageError: There is no experiment at `path`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        default_metric: str | Sequence[str] | None = None,
        default_mode: str | Sequence[str] | None = None,
        trials: Iterable[Any] | None = None,
        codec: Codec | None = None,
    ) -> None:
        self._path = path
        self._index = JournalIndex(located(path), codec)
        recorded = recorded_goal(self._index.header)
        self.default_metric = first(default_metric) or recorded[0]
        is_recorded = self.default_metric == recorded[0]
        self.default_mode = first(default_mode) or (recorded[1] if is_recorded else None)
        self._only = None if trials is None else {getattr(one, "trial_id", one) for one in trials}
        self._trials: dict[str, RecordedTrial] = {}  # kept, so that a trial stays the same object
        self._frames: TrialFrames | None = None

    def refresh(self) -> int:
        """Read what a running experiment has recorded since; returns how many records.

        Trials that were handed out show it; frames that were do not.
        """
        if self._index.is_indexed:
            located(self._path)  # at a URL there may be more by now
        count = self._index.refresh()
        self._frames, known = None, self._trials
        self._trials = {
            trial_id: known.get(trial_id) or RecordedTrial(trial_id, self._index)
            for trial_id in self._index.table.rows
            if self._only is None or trial_id in self._only
        }
        return count

    # --- trials ------------------------------------------------------------------------

    @property
    def trials(self) -> list[RecordedTrial]:
        """Every trial, in the order of creation."""
        if not self._index.is_indexed:
            self.refresh()
        return list(self._trials.values())

    def get_best_trial(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> RecordedTrial | None:
        """Return the trial with the best value of the metric; None (and a warning) where none has one.

        Args:
            metric: By default that of the experiment.
            mode: "max" or "min"; by default that of the experiment.
            scope: Compare each trial's "last" value, the "avg" of all its values, its
                "last-5-avg" or "last-10-avg", or with "all" its best one.
            filter_nan_and_inf: Whether infinite values are passed over; NaN never wins.

        Raises:
            GoalError: No trial reported the metric, or it cannot be told which is meant.
        """
        metric, mode = self._aim(metric, mode)
        if scope not in SCOPES:
            raise GoalError(f"scope={scope!r}: choose one of {', '.join(map(repr, SCOPES))}")
        best, best_value = None, math.nan
        allows = recorded_objectives(self._index.header).allows
        for trial in self.trials:
            if not allows(trial.last_result):
                continue
            value = trial.value(metric, mode, scope)
            if value is None or value != value or (filter_nan_and_inf and value in _INFINITE):
                continue
            if best is None or (value > best_value if mode == "max" else value < best_value):
                best, best_value = trial, value
        if best is None:
            check_reported(metric, self._each_result())
            import warnings

            what = "a finite number" if filter_nan_and_inf else "a number other than NaN"
            none = self._none_of_them()
            warnings.warn(f"there is no best trial: {none} reported {metric!r} as {what}", stacklevel=2)
        return best

    def _none_of_them(self) -> str:
        has_constraints = recorded_objectives(self._index.header).constraints
        return "none that keeps the constraints" if has_constraints else "none"

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
        """Return every trial's config by its folder; with `prefix`, flat and under "config/..."."""
        return {
            one.local_path: flatten({"config": one.config}) if prefix else one.config for one in self.trials
        }

    @property
    def best_trial(self) -> RecordedTrial:
        """The trial that was best at its end.

        Raises:
            GoalError: There is none, or it cannot be told which metric is meant.
        """
        best = self.get_best_trial()
        if best is None:
            among = f"among {len(self.trials)}: {self._none_of_them()}"
            raise GoalError(f"there is no best trial {among} reported a finite number")
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
        """Every trial's last result by its id."""
        return {one.trial_id: one.last_result for one in self.trials}

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
            return_path: Whether to return the checkpoint's directory instead.
        """
        metric, mode = self._aim(metric, mode)
        ranked = best_first(self._find(trial).checkpoints(), metric, mode)
        if not ranked:
            check_reported(metric, self._each_result())
        best = ranked[0][0] if ranked else None
        return best.path if best is not None and return_path else best

    def get_last_checkpoint(
        self, trial: Any = None, metric: str | None = None, mode: str | None = None
    ) -> Checkpoint | None:
        """Return the newest checkpoint of a trial, by default of the best one."""
        found = self.get_best_trial(metric, mode) if trial is None else self._find(trial)
        return None if found is None else found.checkpoint

    def get_trial_checkpoints_paths(self, trial: Any, metric: str | None = None) -> list[tuple[str, Any]]:
        """(directory, value of the metric) of each of a trial's checkpoints, oldest first."""
        name = metric or self.default_metric or "training_iteration"
        return [(saved.path, lookup(result, name)) for saved, result in self._find(trial).checkpoints()]

    # --- frames ------------------------------------------------------------------------

    @property
    def results_df(self) -> Any:
        """A frame of every trial's last result, by trial_id; "config/lr" and the like are columns."""
        return frame((flatten(one.last_result or one.facts()) for one in self.trials), index="trial_id")

    def dataframe(self, metric: str | None = None, mode: str | None = None) -> Any:
        """Return a frame with one result of each trial that reported, with its config and "logdir".

        Args:
            metric: Take the result with the best value of this; needs `mode`. By default
                the last result is taken.
            mode: "max" or "min".
        """
        if mode is not None and mode not in ("max", "min"):
            raise GoalError(f'mode={mode!r}: choose "max" or "min"')
        if mode is not None and metric is None:
            raise GoalError(f"dataframe(mode={mode!r}) needs a metric, too")
        rows = []
        for trial in self.trials:
            if not trial.num_results:
                continue
            row = best_result(trial.results(), metric, mode) if metric and mode else trial.last_result
            if row is not None:
                rows.append({**flatten(row), "logdir": trial.local_path})
        if metric is not None and not any(is_number(lookup(row, metric)) for row in rows):
            check_reported(metric, self._each_result())
        return frame(rows)

    @property
    def trial_dataframes(self) -> TrialFrames:
        """Every trial's frame of all its results, by its folder; a trial id is taken, too."""
        if self._frames is None:
            self._frames = TrialFrames({one.local_path: one.trial_id for one in self.trials}, self._frame_of)
        return self._frames

    def fetch_trial_dataframes(self) -> TrialFrames:
        """Read `trial_dataframes` again and return it."""
        self._frames = None
        return self.trial_dataframes

    @property
    def best_dataframe(self) -> Any:
        """The frame of all results of the best trial."""
        return self.trial_dataframes[self.best_logdir]

    @property
    def best_result_df(self) -> Any:
        """A frame of one row, the last result of the best trial."""
        return frame([flatten(self.best_result)], index="trial_id")

    def set_filetype(self, file_type: str | None = None) -> None:
        """Accept the file type of older scripts without effect: results come from the journal."""
        if file_type not in (None, "json", "csv"):
            raise ArgumentError(f'file_type={file_type!r}: choose "json" or "csv"; neither is needed')

    # --- the experiment ----------------------------------------------------------------

    @property
    def experiment_path(self) -> str:
        """The experiment's folder, where it lies now."""
        return str(self._index.folder)

    def runner_data(self) -> dict[str, Any]:
        """Return the settings of the experiment, from its journal's header."""
        return dict(self._index.header)

    def stats(self) -> dict[str, Any]:
        """Return statistics of the experiment so far.

        Returns:
            `start_time` and `timestamp` (seconds since 1970), `total_time` (s),
            `num_results`, and `num_trials` by status.
        """
        statuses: dict[str, int] = {}
        for trial in self.trials:
            statuses[trial.status] = statuses.get(trial.status, 0) + 1
        begun = self._index.header.get("wall", 0.0)
        lasted = self._index.table.time
        return {
            "start_time": begun,
            "timestamp": begun + lasted,
            "total_time": lasted,
            "num_results": sum(one.num_results for one in self.trials),
            "num_trials": statuses,
        }

    @property
    def account(self) -> dict[str, float] | None:
        """The cost report of a simulated search that has ended; None for other experiments.

        Its keys are `time_s`, `cost`, `machine_s`, `trial_s`, `trained_s`, `lost_s`, `redone_share` (the
        share of training that was repeated or lost), `n_starts`, `n_failures`, `n_preempted`; see
        `overtone.engines.simulated.Account`.
        """
        from overtone.analysis.cost_report import recorded_account

        return recorded_account(self._index.journal)

    def schedule_of(self, trial: Any = None) -> tuple[dict[str, Any], list[tuple[float, dict[str, Any]]]]:
        """Return the first config of a trial's line of ancestors, and each later one with its t.

        Args:
            trial: A trial, or its id; by default the best one.
        """
        found = self._find(trial) if trial is not None else self.get_best_trial()
        if found is None:
            raise OvertoneError("there is no best trial whose schedule could be told: name one")
        return self._index.lineage().schedule(found.trial_id)

    def __repr__(self) -> str:
        return f"ExperimentAnalysis({self.experiment_path!r})"

    def _aim(self, metric: str | None, mode: str | None) -> tuple[str, str]:
        default = (self.default_metric, self.default_mode)
        return chosen(metric, mode, default, (one.last_result for one in self.trials))

    def _objectives(self, metric: Sequence[str] | None, mode: str | Sequence[str] | None) -> Goal:
        recorded = recorded_objectives(self._index.header)
        if metric is None:
            metric, mode = recorded.metrics or self._aim(None, None)[:1], mode or recorded.modes
        return Goal(metric, mode, constraints=dict(zip(recorded.constraints, recorded.bounds, strict=True)))

    def _find(self, trial: Any) -> RecordedTrial:
        wanted = str(getattr(trial, "trial_id", trial)).rstrip("/")
        trials = self.trials
        found = next((one for one in trials if wanted in (one.trial_id, one.local_path)), None)
        if found is None:
            some = ", ".join(one.trial_id for one in trials[:8]) or "none"
            more = ", ..." if len(trials) > 8 else ""
            raise OvertoneError(f"there is no trial {wanted!r}; there are {some}{more}")
        return found

    def _each_result(self) -> Iterator[Mapping[str, Any]]:
        return (result for one in self.trials for result in one.results())

    def _frame_of(self, trial_id: str) -> Any:
        return RecordedTrial(trial_id, self._index).frame()
