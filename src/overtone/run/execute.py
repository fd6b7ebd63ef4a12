"""Runs an experiment in the foreground, where Ctrl-C ends it gracefully, or in a thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.experiment import Experiment
from overtone.run.assemble import assemble
from overtone.run.drive import Drive
from overtone.run.failed_trials import Tally, failed
from overtone.run.header.journal_setup import codec_for
from overtone.run.plan import plan
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderGoneError
from overtone.store.room import hurry, unhurry
from overtone.worker.server.driver_environment import check_not_loading

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis


def execute(experiment: Experiment, catches_signals: bool = True) -> ExperimentAnalysis:
    """Run an experiment to its end and return its results.

    After the first Ctrl-C, running trials save, and the results so far are returned. The second
    Ctrl-C ends the trials at once.

    Args:
        catches_signals: False leaves signals alone: the first Ctrl-C ends the trials at once.

    Raises:
        TuneError: Trials failed, and `raise_on_failed_trial` is set; its `analysis` has the others.
        OvertoneError, ValueError: The experiment cannot run as described.
    """
    run = Run(experiment)
    with _ctrl_c(run.interrupt) if catches_signals else nullcontext():
        try:
            run.carry_out()
        except KeyboardInterrupt:  # Its place in the loop does not matter.
            raise KeyboardInterrupt(f"ended at once; to go on: overtone resume {run.folder}") from None
        except FolderGoneError:  # Its message says what is left, and where.
            raise
        except Exception:
            if experiment.verbose and run.folder.exists():
                say(f"nothing is lost: once that is mended, overtone resume {run.folder}")
            raise
    return run.outcome()


def start(experiment: Experiment) -> Run:
    """Start an experiment in a new thread and return its run."""
    run = Run(experiment)
    run.begin()
    return run


class Run:
    """A running experiment.

    Attributes:
        name: The folder's name.
    """

    def __init__(self, experiment: Experiment) -> None:
        check_not_loading()
        self._parts = assemble(plan(experiment))
        self._drive = Drive(self._parts)
        self.name = self.folder.name
        self._error: BaseException | None = None
        self._is_over = False
        self._thread: threading.Thread | None = None

    @property
    def folder(self) -> Path:
        """The folder of its results."""
        return self._drive.folder

    @property
    def tally(self) -> Tally:
        """Counts of the ended trials."""
        return self._drive.tally

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self._is_over

    @property
    def results_df(self) -> Any:
        """A frame with one row per trial and its newest result, also during the run."""
        return self.analysis.results_df

    @property
    def analysis(self) -> ExperimentAnalysis:
        """The results so far."""
        from overtone.analysis import ExperimentAnalysis

        self._drive.check_folder()
        goal, codec = self._parts.plan.goal, codec_for(self._parts.plan.space)
        return ExperimentAnalysis(self.folder, codec=codec, goal=goal)

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
        if not self._is_over or (n is not None and self._error is None):
            return self.analysis
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        return self.outcome()

    def stop(self) -> None:
        """End the search: running trials save and end; `wait` returns the results so far."""
        self._drive.ask("stop")

    def interrupt(self) -> None:
        """End the search as Ctrl-C does: unfinished trials can be resumed."""
        self._drive.ask("interrupt")

    def begin(self) -> None:
        """Start `carry_out` in a thread."""

        def work() -> None:
            with suppress(BaseException):  # kept in self._error, and raised by wait()
                self.carry_out()

        self._thread = threading.Thread(target=work, name=f"overtone {self.name}", daemon=True)
        self._thread.start()

    def carry_out(self) -> None:
        """Run to the end."""
        try:
            self._drive.run()
        except BaseException as error:
            self._error = error
            if isinstance(error, Exception) and self._parts.controller.trials:
                with suppress(Exception):  # some exceptions take no attributes
                    error.analysis = self.analysis  # type: ignore[attr-defined]
            raise
        finally:
            with self._drive.news:
                self._is_over = True
                self._drive.news.notify_all()

    def outcome(self) -> ExperimentAnalysis:
        """Return the analysis of a finished run, or raise the error that ended it."""
        if self._error is not None:
            raise self._error
        analysis, experiment = self.analysis, self._parts.plan.experiment
        failures = self._drive.tally.failures
        as_is = experiment.fail_fast == "raise"
        if failures and (experiment.raise_on_failed_trial or as_is):
            raise failed(failures, self._parts.controller.trials, self.folder, analysis, as_is)
        return analysis


@contextmanager
def _ctrl_c(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` at the first SIGINT or SIGTERM; raise at the second SIGINT."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []

    def on_signal(number: int, _: Any) -> None:
        seen.append(number)
        if len(seen) > 1:
            raise KeyboardInterrupt
        say("interrupted: letting trials save and end; once more to end them at once")
        hurry()  # Waits for room on a full disk must end now.
        interrupt()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        unhurry()
        for number, handler in before.items():
            signal.signal(number, handler)
    if signal.SIGTERM in seen:
        raise SystemExit(128 + signal.SIGTERM)  # Do not run the rest of the script.
