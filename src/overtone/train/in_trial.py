"""Trainings whose head is the process of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.analysis.result import Result
from overtone.errors import GangError
from overtone.train.base_trainer import TrainingFailedError
from overtone.train.kept_checkpoints import KeptCheckpoints
from overtone.train.training import Training
from overtone.train.user_callback import TrainRunContext
from overtone.tune.tune import RunConfig
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.gang.call import OnReport, OnTell
from overtone.worker.gang.reports import Report, Verdict, joint_metrics
from overtone.worker.gang.trial_reports import TrialReports, merged_checkpoint
from overtone.worker.session.current import current


def train_in_trial(config: Mapping[str, Any], training: Training) -> None:
    """Run a training as the trial itself: the reports of its ranks are the trial's results.

    This is the trainable of a search over a trainer.
    """
    report_to_trial(training.with_config(config))


def report_to_trial(training: Training) -> None:
    """Run a training, and report to the trial what its ranks report or tell.

    Raises:
        GangError: A rank failed.
        TrialHalted: The trial was told to end.
    """
    session = current()
    callbacks = _Callbacks(training, None)
    reported = TrialReports(session)

    def on_report(reports: list[Report]) -> Verdict:
        if training.callbacks:
            with merged_checkpoint(reports) as files:
                checkpoint = None if files is None else Checkpoint(files)
                callbacks.after_report(reports, joint_metrics(reports), checkpoint)
        return reported(reports)

    callbacks.run(on_report, lambda rank, value: session.report(value))


def fit_in_trial(training: Training, run_config: RunConfig, name: str) -> Result:
    """Run a training within a trial's own code, and return its outcome.

    Its reports go to the callbacks alone. Its checkpoints are in the folder that `run_config` names, by
    default one with the trainer's name in the trial's folder.

    Raises:
        TrainingFailedError: A rank failed.
        ResourceError: The trial's bundles are too few or too small for the ranks.
    """
    home = Path(run_config.storage_path or current().get_trial_dir(), run_config.name or name)
    kept = KeptCheckpoints(home, run_config.checkpoint_config)
    callbacks = _Callbacks(training, run_config)
    newest: dict[str, Any] = {}

    def on_report(reports: list[Report]) -> None:
        nonlocal newest
        newest = joint_metrics(reports)
        with merged_checkpoint(reports) as files:
            checkpoint = None if files is None else kept.keep(files, newest)
        callbacks.after_report(reports, newest, checkpoint)

    try:
        callbacks.run(on_report)
    except GangError as error:
        raise TrainingFailedError(str(error)) from error
    return Result(
        metrics=newest,
        checkpoint=kept.newest,
        path=str(home),
        best_checkpoints=kept.all,
    )


class _Callbacks:
    """The callbacks of a training, and its run with them."""

    def __init__(self, training: Training, run_config: RunConfig | None) -> None:
        self._training = training
        self._context = TrainRunContext(run_config, training.loop_config, training.scaling, training.backend)

    def run(self, on_report: OnReport, on_tell: OnTell | None = None) -> None:
        try:
            self._training.run(on_report, on_tell)
        except GangError as error:
            failed = {error.rank: error.__cause__ or error}
            for one in self._training.callbacks if error.rank is not None else ():
                one.after_exception(self._context, failed)  # type: ignore[arg-type]
            raise

    def after_report(
        self, reports: list[Report], metrics: dict[str, Any], checkpoint: Checkpoint | None
    ) -> None:
        of_ranks = [metrics, *(dict(one.metrics) for one in reports[1:])]
        for one in self._training.callbacks:
            one.after_report(self._context, of_ranks, checkpoint)
