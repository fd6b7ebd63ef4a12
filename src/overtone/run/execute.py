"""Runs an experiment in the foreground, where Ctrl-C ends it gracefully, or in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.core.ledger import check_feasible
from overtone.core.messages import CapacityChanged, Event, Resumed, Suggest
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.experiment import Experiment
from overtone.observers.table_keeper import TableKeeper
from overtone.run.algorithms import host_for
from overtone.run.compose import compose, observers_for
from overtone.run.console import console_of
from overtone.run.failed_trials import Tally, Watch, failed
from overtone.run.followers import followers_for
from overtone.run.header.journal_setup import codec_for, open_journal
from overtone.run.interruption import ctrl_c
from overtone.run.jobs import job_for
from overtone.run.loop import Loop
from overtone.run.parts import Parts, Past
from overtone.run.pending_commands import Outstanding
from overtone.run.resume.replay import Resuming, told, told_divergences
from overtone.run.resume.snapshot import Mark, snapshots_of
from overtone.run.searcher_host import Answers, Host
from overtone.run.storage.deletions import Deletions, deletions_for
from overtone.run.storage.folder_watch import FolderWatch
from overtone.run.storage.leftover_checkpoints import LateSaves, clear_out, clear_up, take_in
from overtone.run.storage.overview import Overview
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderGoneError
from overtone.worker.server.driver_environment import check_not_loading

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis
    from overtone.journal.writer import JournalWriter


def execute(experiment: Experiment) -> ExperimentAnalysis:
    """Run an experiment to its end and return its results.

    After the first Ctrl-C, running trials save, and the results so far are returned. The second
    Ctrl-C ends the trials at once.

    Raises:
        TuneError: Trials failed, and `raise_on_failed_trial` is set; its `analysis` has the others.
        OvertoneError, ValueError: The experiment cannot run as described.
    """
    run = Run(experiment)
    with ctrl_c(run.interrupt):
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
        folder: The folder of its results.
        name: The folder's name.
        tally: Counts of the ended trials.
    """

    def __init__(self, experiment: Experiment) -> None:
        check_not_loading()
        self._experiment = experiment
        self._parts = compose(experiment)
        self.folder: Path = self._parts.folder
        self.name = self.folder.name
        self._where: FolderWatch | None = None
        self._loop: Loop | None = None
        self._asked: str | None = None
        self.tally = Tally()
        self._raises_at_once = experiment.fail_fast == "raise"
        self._error: BaseException | None = None
        self._analysis: ExperimentAnalysis | None = None
        self._news = threading.Condition()
        self._is_over = False
        self._thread: threading.Thread | None = None

    # --- for users ---------------------------------------------------------------------

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

        if self._where is not None:
            self._where.check()
            self.folder = self._where.folder
        goal = self._parts.goal
        return ExperimentAnalysis(self.folder, goal.metric, goal.mode, codec=codec_for(self._parts.space))

    def wait(self, n: int | None = None, timeout_s: float | None = None) -> ExperimentAnalysis:
        """Wait until `n` trials have ended, or all if n is None, and return the results.

        Args:
            n: Number of trials; the run continues in its thread.
            timeout_s: Seconds after which to return in any case.

        Raises:
            TuneError: Trials failed, and the call waits for all trials.
            Exception: The error that ended the run.
        """
        with self._news:
            ended = self.tally
            self._news.wait_for(lambda: self._is_over or (n is not None and ended.n_ended >= n), timeout_s)
        if not self._is_over or (n is not None and self._error is None):
            return self.analysis
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        return self.outcome()

    def stop(self) -> None:
        """End the search: running trials save and end; `wait` returns the results so far."""
        self._tell("stop")

    def interrupt(self) -> None:
        """End the search as Ctrl-C does: unfinished trials can be resumed."""
        self._tell("interrupt")

    # --- the run -----------------------------------------------------------------------

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
            self._carry_out()
        except BaseException as error:
            self._error = error
            if isinstance(error, Exception) and self._parts.controller.trials:
                with suppress(Exception):  # some exceptions take no attributes
                    error.analysis = self.analysis  # type: ignore[attr-defined]
            raise
        finally:
            self._loop = None  # it knows this run: the controller is freed with the run, not when garbage is
            with self._news:
                self._is_over = True
                self._news.notify_all()

    def _note_nothing(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        """Mark an experiment that ended before its first trial, so that its folder is removed."""
        if error is not None and self._parts.past is None and not self._parts.controller.trials:
            self._parts.place.is_nothing = True

    def outcome(self) -> ExperimentAnalysis:
        """Return the analysis of a finished run, or raise the error that ended it."""
        if self._error is not None:
            raise self._error
        analysis = self.analysis
        if self.tally.failures and (self._experiment.raise_on_failed_trial or self._raises_at_once):
            raise failed(self.tally.failures, self._parts.controller.trials, self.folder, analysis)
        return analysis

    def _carry_out(self) -> None:
        experiment, parts, engine = self._experiment, self._parts, self._parts.engine
        with ExitStack() as open_parts:
            open_parts.enter_context(parts.place)
            open_parts.push(self._note_nothing)
            past = parts.past
            if past is not None:
                open_parts.callback(past.journal.close)
            for line in (parts.moved, parts.earlier_line):
                if line:
                    say(line)
            open_parts.callback(engine.close)
            engine.open(job_for(experiment, parts))
            first = engine.poll(0)
            if not engine.capabilities.is_elastic:
                _check_demand(parts, first)
            table = TableKeeper(TrialTable())
            console = console_of(experiment, parts, table.table)
            engine.on_output = console.on_output
            journal = past.journal if past is not None else open_journal(experiment, parts)
            with closing(journal), self._settled(journal) as where:
                answers: Answers = {}
                host = host_for(parts.searcher, parts.space, engine, answers)
                followers = followers_for(experiment, parts, table.table, self._save)
                watch, outstanding = self._watch(), Outstanding()
                deletions, late = deletions_for(experiment, parts, journal), LateSaves()
                remembering = [table, watch, *followers, console]
                overview = Overview(parts, journal)
                snapshots = snapshots_of(experiment, parts, journal, remembering, outstanding, overview.write)
                if past is not None:
                    resuming = Resuming(journal, parts.controller, parts.searcher, remembering, outstanding)
                    recall = snapshots.recall
                    first = self._resume(past, resuming, host, answers, first, recall, deletions, late)
                elif parts.place.fence > 1:  # An earlier driver left no journal.
                    clear_out(parts)
                observers = [watch, *observers_for(experiment, parts, table, followers, console)]
                self._loop = Loop(
                    parts.controller, engine, host, journal.append, observers, say, journal.next_n - 1,
                    outstanding, snapshots.look, deletions, late,
                )  # fmt: skip
                if self._asked:
                    self._tell(self._asked)
                parts.place.open_mirror(lambda: journal.written_bytes, self._loop.leave)
                try:
                    console.open()
                    self._loop.pump(late.events, is_past=True)
                    self._loop.pump(first)
                    self._loop.run()
                    if parts.controller.is_finished:
                        account = engine.account
                        journal.note("end", {"account": account.as_data()} if account is not None else {})
                    elif not parts.controller.is_running and journal.is_at_path:
                        say(f"to go on with it: overtone resume {self.folder}")
                finally:
                    host.close()
                    engine.close()
                    if where.look() and parts.place.url is None:
                        console.moved_to(str(where.folder))
                    unfinished = [(one, error) for one in observers if (error := _quietly(one)) is not None]
                    if journal.is_at_path:  # Otherwise `FolderWatch` reports it.
                        overview.write()
                        clear_up(parts, late)
                        self._mend(self._loop.disconnected, unfinished)

    @contextmanager
    def _settled(self, journal: JournalWriter) -> Iterator[FolderWatch]:
        """Track the folder during the block and after it, in case it is moved or deleted."""
        where = self._where = FolderWatch(self._parts.place, journal, self.interrupt)
        try:
            yield where
        except BaseException as error:
            try:
                where.settle(self._parts.controller.is_finished)
            except FolderGoneError as lost:
                if isinstance(error, OSError):  # The missing files went with the folder.
                    raise lost from error
                say(str(lost))
            raise
        else:
            where.settle(self._parts.controller.is_finished)
        finally:
            self.folder = where.folder

    def _resume(
        self,
        past: Past,
        resuming: Resuming,
        host: Host,
        answers: Answers,
        first: Sequence[Event],
        recall: Callable[[], Mark | None],
        deletions: Deletions,
        late: LateSaves,
    ) -> list[Event]:
        """Restore all parts to the last driver's state; return the events to continue with."""
        from overtone.journal.header import driver_facts

        parts, engine, controller = self._parts, self._parts.engine, self._parts.controller
        from overtone.run.resume.header_changes import resume_changes

        lines, noted = resume_changes(past.header, self._experiment, parts)
        for line in lines:
            say(line)
        repeats = engine.capabilities.repeats
        if repeats:
            first = resuming.replay_in(engine, first)
        else:
            for line in told_divergences(resuming.replay(recall())):
                say(line)
        past.journal.note("driver", {**driver_facts(), **noted})
        say(told(self.folder, controller, not repeats, is_forgiven=bool(past.errored)))
        answers.update(resuming.answers)
        if not repeats:
            deletions.hold(resuming.undone_discards)
            late.events = take_in(parts, resuming.outstanding, late)
        elif controller.is_running and not past.errored and parts.limits == controller.limits:
            asked = [host.submit(Suggest(index)) for index in sorted(resuming.outstanding.asked)]
            return [*first, *(one for one in asked if one is not None)]
        else:
            first = [*first, CapacityChanged(engine.now(), resuming.outstanding.nodes)]
        return [Resumed(engine.now(), parts.limits, past.errored), *first]

    def _mend(self, failed: Sequence[Observer], unfinished: Sequence[tuple[Observer, Exception]]) -> None:
        """Write the files that observers could not write, for example because the disk was full.

        Args:
            failed: Observers whose failures were reported.
            unfinished: Observers that could not be closed, with their errors.
        """
        from overtone.observers.projections import reconcile

        for observer, error in unfinished:
            if not observer.is_projection:
                say(f"{type(observer).__name__} could not finish: {type(error).__name__}: {error}")
        reasons = [error for observer, error in unfinished if observer.is_projection]
        if not reasons and not any(one.is_projection for one in failed):
            return
        parts = self._parts
        try:
            codec = codec_for(parts.space)
            for observer in reconcile(parts.folder, parts.has_tensorboard, codec, trusts_old=False):
                observer.close()
            for error in reasons:
                say(str(error))
            say("the files of trials were brought to the length of the journal")
        except Exception as error:  # for the same reason, mostly: it is told once
            say(f"the files of trials are not complete: {error}")

    def _watch(self) -> Observer:
        return Watch(self.tally, self._news, self._leave_if_failed)

    def _leave_if_failed(self) -> None:
        if self._raises_at_once and self._loop is not None:
            self._loop.leave()

    def _save(self, trial_id: str) -> None:
        if self._loop is not None:
            self._loop.save(trial_id)

    def _tell(self, what: str) -> None:
        self._asked = what
        loop = self._loop
        if loop is not None:
            loop.stop() if what == "stop" else loop.interrupt()


def _check_demand(parts: Parts, events: Sequence[Event]) -> None:
    """Raise at once if no trial could ever start."""
    for event in events:
        if isinstance(event, CapacityChanged) and parts.demand is not None:
            check_feasible(parts.demand, event.nodes)


def _quietly(observer: Observer) -> Exception | None:
    """Close an observer and return its exception, which must not hide the run's own error."""
    try:
        observer.close()
        return None
    except Exception as error:
        return error
