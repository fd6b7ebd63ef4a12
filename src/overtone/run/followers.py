"""Observers of an experiment besides its files and console; a resume shows them past records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.experiment import Experiment
from overtone.run.compose import callbacks_of
from overtone.run.parts import Parts
from overtone.run.storage.results_place import JOURNAL
from overtone.standard_streams import say

if TYPE_CHECKING:
    from overtone.reading.journal_index import JournalIndex


def followers_for(
    experiment: Experiment, parts: Parts, table: TrialTable, ask_to_save: Callable[[str], None]
) -> list[Observer]:
    """Return the user's callbacks and other requested observers, in the order in which they get records.

    Args:
        table: Has each record before the observers get it.
        ask_to_save: Function that callbacks call with the id of a trial that should save.
    """
    found: list[Observer] = []
    if experiment.trial_folder is not None:
        from overtone.observers.files.named_links import Links

        found.append(Links(parts.folder, parts.controller.trials, experiment.trial_folder))
    callbacks = callbacks_of(experiment)
    if callbacks:
        from overtone.observers.callbacks.callback_observer import CallbackObserver
        from overtone.observers.trial_view import Experiment as Seen
        from overtone.worker.checkpoints.checkpoint import Checkpoint

        seen = Seen(
            parts.name, str(parts.folder), None, lambda one: Checkpoint(one.uri), ask_to_save,
            _summaries(parts.folder),
        )  # fmt: skip
        found.append(
            CallbackObserver(
                callbacks, seen, table, stop=experiment.stop, num_samples=experiment.num_samples,
                total_num_samples=parts.searcher.total, warn=say,
            )
        )  # fmt: skip
    if parts.scheduler.log_config:
        from overtone.observers.files.policy_log import PolicyLog

        found.append(PolicyLog(parts.folder))
    found += [one for one in experiment.callbacks if isinstance(one, Observer)]
    return found


def _summaries(folder: Path) -> Callable[[str], dict[str, dict[str, float]]]:
    """Return a function that summarises a trial's metrics; it reads the journal written so far."""
    read: list[JournalIndex] = []

    def summary(trial_id: str) -> dict[str, dict[str, float]]:
        from overtone.analysis.recorded_trial import RecordedTrial
        from overtone.reading.journal_index import JournalIndex

        if not read:
            read.append(JournalIndex(folder / JOURNAL))
        read[0].refresh()
        return RecordedTrial(trial_id, read[0]).metric_analysis

    return summary
