"""An experiment in its folder: its trials, and facts about all of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from overtone.analysis.recorded_trial import RecordedTrial
from overtone.analysis.trial_lookup import TrialLookup
from overtone.analysis.trial_parts import check_local
from overtone.errors import UsageError
from overtone.reading.index_on_demand import IndexOnDemand
from overtone.reading.location import located
from overtone.reading.recorded_goal import first, recorded_goal
from overtone.store.files import is_url

if TYPE_CHECKING:
    from overtone.core.goal import Goal
    from overtone.journal.codec import Codec


class RecordedExperiment:
    """The trials of an experiment, and facts about it, from its folder: running, finished, or a copy.

    The journal is read on first use, and again at `refresh()`. A pickle has the place of the folder, not
    its contents: unpickling reads the journal again.

    Args:
        path: The experiment's folder, its journal, or the URL of its mirror.
        default_metric: The metric that ranks trials if a call names none; by default the
            experiment's metric, or else the only possible one.
        default_mode: "max" or "min" of `default_metric`, and of other metrics that a call names.
        trials: Trials, or their ids, to which the analysis is restricted; None for all.
        codec: Restores values in configs that are not data (classes, functions); without it
            configs have the journal's description of such values.
        experiment_checkpoint_path: The name of `path` in Ray Tune.
        goal: The goal of the run, in place of `default_metric` and `default_mode`. If it was inferred,
            its mode is not that of other metrics.
        on_demand: Whether to read only the trials that are asked for, if the journal is long. This takes
            longer if all are.
        storage_filesystem: Must be None or pyarrow's local file system; elsewhere, `path` is a URL.

    Raises:
        StorageError: There is no experiment at `path`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        default_metric: str | Sequence[str] | None = None,
        default_mode: str | Sequence[str] | None = None,
        trials: Iterable[Any] | None = None,
        codec: Codec | None = None,
        *,
        experiment_checkpoint_path: str | os.PathLike[str] | None = None,
        storage_filesystem: Any = None,
        goal: Goal | None = None,
        on_demand: bool = False,
    ) -> None:
        place = path if path is not None else experiment_checkpoint_path
        if place is None:
            raise UsageError("ExperimentAnalysis() needs the folder of an experiment")
        check_local(storage_filesystem)
        self._url = os.fspath(place) if is_url(os.fspath(place)) else ""
        self._index = IndexOnDemand(located(place), codec, self._url, on_demand)
        recorded = recorded_goal(self._index.header)
        if goal is not None:
            default_metric, default_mode = goal.metric, goal.mode
        self._is_inferred = goal is not None and recorded == (None, None)
        self.default_metric = first(default_metric) or recorded[0]
        is_recorded = self.default_metric == recorded[0]
        self.default_mode = first(default_mode) or (recorded[1] if is_recorded else None)
        only = None if trials is None else {getattr(one, "trial_id", one) for one in trials}
        self._lookup = TrialLookup(self._index, only)
        self._cache: dict[Any, Any] = {}  # what was computed since the last refresh

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_cache": {}}

    def refresh(self) -> int:
        """Read what a running experiment has recorded since; returns how many records.

        Trials that were handed out show it; frames that were do not.
        """
        if self._index.is_indexed:
            located(self._url or self._index.journal)  # at a URL there may be more by now
        count = self._index.refresh()
        self._cache.clear()
        return count

    @property
    def trials(self) -> list[RecordedTrial]:
        """Every trial, in the order of creation; the same list until a refresh brings more."""
        if not self._index.is_indexed:
            self.refresh()
        return self._lookup.all

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
        trials = self.trials  # reads the journal
        begun = self._index.header.get("wall", 0.0)
        lasted = self._index.table.time
        return {
            "start_time": begun,
            "timestamp": begun + lasted,
            "total_time": lasted,
            "num_results": sum(one.num_results for one in trials),
            "num_trials": self.count(),
        }

    def count(self) -> dict[str, int]:
        """Return the number of trials by status; no zeros."""
        if not self._index.is_indexed:
            self.refresh()
        return self._lookup.count()

    @property
    def account(self) -> dict[str, float] | None:
        """The cost report of a simulated search that has ended; None for other experiments.

        Its keys are `time_s`, `cost`, `machine_s`, `trial_s`, `trained_s`, `lost_s`, `redone_share` (the
        share of training that was repeated or lost), `n_starts`, `n_failures`, `n_preempted`; see
        `overtone.engines.simulated.Account`.
        """
        from overtone.analysis.cost_report import recorded_account

        return recorded_account(self._index.journal)

    def _find(self, trial: Any) -> RecordedTrial:
        if not self._index.is_indexed:
            self.refresh()
        return self._lookup.find(trial)
