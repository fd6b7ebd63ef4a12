"""Runs an experiment in the foreground, where Ctrl-C ends it gracefully, or in a thread."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.control.verbs import Verbs
from overtone.errors import StorageError
from overtone.experiment import Experiment
from overtone.run.assemble import assemble
from overtone.run.drive import Drive
from overtone.run.failed_trials import EndCounts, failed
from overtone.run.header.journal_setup import codec_for
from overtone.run.interrupts import interruptible
from overtone.run.plan import plan
from overtone.run.resume.target import RERUN
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderGoneError
from overtone.uncaught import interrupted
from overtone.worker.server.driver_environment import check_not_loading

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis
    from overtone.control.answers import Answer
    from overtone.core.messages import Requested


def execute(experiment: Experiment, catches_signals: bool = True) -> ExperimentAnalysis:
    """Run an experiment to its end and return its results.

    After the first Ctrl-C, running trials save, and the results so far are returned. The second
    Ctrl-C ends the trials at once. A script that does not catch the KeyboardInterrupt ends with a
    line that says how to resume, without a traceback.

    Args:
        catches_signals: False leaves signals alone: the first Ctrl-C ends the trials at once.

    Raises:
        KeyboardInterrupt: At the second Ctrl-C, or at the first if no trial has reported a result.
        TuneError: Trials failed, and `raise_on_failed_trial` is set; its `analysis` has the others.
        OvertoneError, ValueError: The experiment cannot run as described.
    """
    if RERUN in os.environ:
        from overtone.run.rerun import run_again

        return run_again(experiment, partial(_executed, catches_signals=catches_signals))
    return _executed(experiment, catches_signals)


def _executed(experiment: Experiment, catches_signals: bool = True) -> ExperimentAnalysis:
    try:
        run = Run(experiment)
    except KeyboardInterrupt:
        raise interrupted("interrupted before the experiment began") from None
    is_silent = experiment.verbose == 0
    with interruptible(run.interrupt, is_silent, catches_signals) as signals:
        try:
            run.carry_out()
        except KeyboardInterrupt:  # Its place in the loop does not matter.
            raise interrupted(f"ended at once; to resume: overtone resume {run.folder}") from None
        except FolderGoneError:  # Its message says what is left, and where.
            raise
        except Exception:
            if experiment.verbose and run.folder.exists():
                say(f"nothing is lost: once that is mended, overtone resume {run.folder}")
            raise
    if signals and not run.has_results:
        raise interrupted(f"no trial reported a result; to resume: overtone resume {run.folder}")
    return run.outcome()


def start(experiment: Experiment) -> Run:
    """Start an experiment in a new thread and return its run.

    In a script that `overtone rerun` runs, the trial runs again at once, and the script ends.
    """
    if RERUN in os.environ:
        from overtone.run.rerun import run_again

        run_again(experiment, _executed)
    run = Run(experiment)
    run.begin()
    return run


class Run(Verbs):
    """A running experiment.

    Once it is over, `add`, `clone`, `set_limits`, `set_priority` and `note` are recorded for a resume.
    In a callback, which runs in the thread of the run, these methods return 0 or "" at once.

    Attributes:
        name: The folder's name.
        parts: The parts of the experiment.
        error: The error that ended the run, if any.
    """

    def __init__(self, experiment: Experiment) -> None:
        check_not_loading()
        self.parts = assemble(plan(experiment))
        self._drive = Drive(self.parts)
        self.name = self.folder.name
        self.error: BaseException | None = None
        self._is_over = False
        self._thread: threading.Thread | None = None

    @property
    def folder(self) -> Path:
        """The folder of its results."""
        return self._drive.folder

    @property
    def tally(self) -> EndCounts:
        """Counts of the ended trials."""
        return self._drive.tally

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self._is_over

    @property
    def has_results(self) -> bool:
        """Whether a trial has reported a result."""
        return any(trial.n_results for trial in self.parts.controller.trials.values())

    @property
    def results_df(self) -> Any:
        """A frame with one row per trial and its newest result, also during the run."""
        return self.analysis.results_df

    @property
    def analysis(self) -> ExperimentAnalysis:
        """The results so far."""
        from overtone.analysis import ExperimentAnalysis

        self._drive.check_folder()
        goal, codec = self.parts.plan.goal, codec_for(self.parts.plan.space)
        return ExperimentAnalysis(self.folder, codec=codec, goal=goal)

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {'over' if self.done else 'running'})"

    def _ipython_display_(self) -> None:
        from overtone.ui.widget import display_experiment

        display_experiment(self.folder, self._repr_html_, lambda: not self.done)

    def _display_(self) -> Any:  # marimo's
        from overtone.ui.widget import display_value

        return display_value(self.folder, self._repr_html_, lambda: not self.done)

    def _repr_html_(self) -> str:
        try:
            return self.analysis._repr_html_()
        except StorageError:
            if self._is_over or self.has_results:
                raise
            return f"<div><b>{escape(self.name)}</b>: starting</div>"  # It has no journal yet.

    def wait(self, n: int | None = None, timeout_s: float | None = None) -> ExperimentAnalysis:
        """Wait until `n` trials have ended, or all if n is None, and return the results.

        Args:
            n: Number of trials; the run continues in its thread.
            timeout_s: Seconds after which to return in any case.

        Raises:
            TuneError: Trials failed, and the call waits for all trials.
            Exception: The error that ended the run.
        """
        with self._drive.news:
            ended = self._drive.tally
            self._drive.news.wait_for(
                lambda: self._is_over or (n is not None and ended.n_ended >= n), timeout_s
            )
        if not self._is_over or (n is not None and self.error is None):
            return self.analysis
        self.join()
        return self.outcome()

    def stop(self, note: str = "") -> None:
        """End the search: running trials save and end; `wait` returns the results so far.

        The call does not wait for the record in the journal.

        Args:
            note: The reason, for the journal.
        """
        self._drive.inbox.put(self._request("stop", note=note))

    def interrupt(self) -> None:
        """End the search as Ctrl-C does: unfinished trials can be resumed."""
        self._drive.interrupt()

    def stack(self, trial_id: str) -> str:
        from overtone.control.answers import ControlError
        from overtone.errors import OvertoneError

        try:
            return self._drive.stacks(trial_id)
        except OvertoneError as error:
            raise ControlError(str(error), "refused") from None

    def _send(self, event: Requested) -> Answer:
        from overtone.control.answers import Answer, ControlError
        from overtone.control.client import send
        from overtone.control.inbox import ask

        if self._thread is threading.current_thread():  # A callback: the loop would answer after it.
            self._drive.inbox.put(event, _say_refusal)
            return Answer(0)
        try:
            return ask(self._drive.inbox, event)
        except ControlError as error:
            if error.kind != "over":
                raise
        self.join()
        return send(self.folder, event)

    def begin(self) -> None:
        """Start `carry_out` in a thread."""

        def work() -> None:
            with suppress(BaseException):  # kept in self.error, and raised by wait()
                self.carry_out()

        self._thread = threading.Thread(target=work, name=f"overtone {self.name}", daemon=True)
        self._thread.start()

    def carry_out(self) -> None:
        """Run to the end."""
        try:
            self._drive.run()
        except BaseException as error:
            self.error = error
            if isinstance(error, Exception) and self.parts.controller.trials:
                with suppress(Exception):  # some exceptions take no attributes
                    error.analysis = self.analysis  # type: ignore[attr-defined]
            raise
        finally:
            with self._drive.news:
                self._is_over = True
                self._drive.news.notify_all()

    def join(self) -> None:
        """Wait until the thread of the run has ended; in that thread, return at once."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def outcome(self) -> ExperimentAnalysis:
        """Return the analysis of a finished run, or raise the error that ended it.

        Raises:
            TuneError: Trials failed, and the experiment raises for failed trials.
            Exception: The error that ended the run.
        """
        if self.error is not None:
            raise self.error
        analysis, experiment = self.analysis, self.parts.plan.experiment
        failures = self._drive.tally.failures
        as_is = experiment.fail_fast == "raise"
        if failures and (experiment.raise_on_failed_trial or as_is):
            raise failed(failures, self.parts.controller.trials, self.folder, analysis, as_is)
        return analysis


def _say_refusal(document: dict[str, Any]) -> None:
    if "error" in document:
        say(f"a request was refused: {document['error']}")
