"""Drives an experiment to its end: everything is opened in order, the loop runs, everything is closed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from overtone.control.inbox import Inbox
from overtone.control.requests import KINDS
from overtone.core.controller import Controller
from overtone.core.ledger import check_feasible
from overtone.core.messages import CapacityChanged
from overtone.core.protocols import Capabilities, Observer
from overtone.core.table import TrialTable
from overtone.observers.table_keeper import TableKeeper
from overtone.reading.trial_names import find_trial
from overtone.run.algorithms import host_for
from overtone.run.dashboard_process import DashboardProcess
from overtone.run.failed_trials import EndCounts, FailedTrials
from overtone.run.header.code_facts import CodeFacts
from overtone.run.header.journal_setup import open_journal
from overtone.run.jobs import job_for
from overtone.run.loop import Loop
from overtone.run.machine_watch import MachineWatch
from overtone.run.observers import console_of, followers_for, mend_files, observers_for
from overtone.run.parts import Parts
from overtone.run.pending_commands import Outstanding
from overtone.run.resume.resume import resume
from overtone.run.resume.snapshot import snapshots_of
from overtone.run.searcher_host import Answers
from overtone.run.storage.deletions import deletions_for
from overtone.run.storage.experiment_list import is_submitted
from overtone.run.storage.folder_watch import FolderWatch
from overtone.run.storage.leftover_checkpoints import LateSaves, clear_out, clear_up
from overtone.run.storage.overview import Overview
from overtone.space.questions import questions
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderGoneError
from overtone.worker.machines import DRIVER

if TYPE_CHECKING:
    from overtone.journal.writer import JournalWriter


class Drive:
    """One experiment while it runs.

    Attributes:
        tally: Counts of the ended trials.
        news: Notified when a trial has ended.
        inbox: Takes requests, now and when the loop begins.
    """

    def __init__(self, parts: Parts) -> None:
        self.tally = EndCounts()
        self.news = threading.Condition()
        self.inbox = Inbox(parts.controller, _refused(parts.plan.engine.capabilities))
        self._parts = parts
        self._where: FolderWatch | None = None
        self._loop: Loop | None = None
        self._is_interrupted = False

    def run(self) -> None:
        """Run to the end. The folder is released in any case; it is removed if there was no trial yet.

        Raises:
            FolderGoneError: The folder was deleted, or moved to an unknown place.
            Exception: An algorithm, the engine or the journal raised it.
        """
        parts, plan, place, past = self._parts, self._parts.plan, self._parts.place, self._parts.past
        engine = plan.engine
        with ExitStack() as open_parts:
            open_parts.enter_context(place)
            open_parts.callback(self.inbox.close)
            open_parts.push(self._note_nothing)
            if past is not None:
                open_parts.callback(past.journal.close)
            asked = questions(plan.experiment.space) if past is None else ()
            for line in filter(None, (place.moved, parts.earlier_line, *asked)):
                parts.tell(line)
            open_parts.callback(engine.close)
            code = CodeFacts(plan.experiment.trainable)
            engine.open(job_for(parts))
            first = engine.poll(0)
            if not engine.capabilities.is_elastic and plan.demand is not None:
                for event in first:
                    if isinstance(event, CapacityChanged):
                        check_feasible(plan.demand, event.nodes)
            keeper = TableKeeper(TrialTable())
            console = console_of(parts, keeper.table)
            engine.on_output = console.on_output
            journal = past.journal if past is not None else open_journal(parts, code.data())
            with closing(journal), self._settled(journal) as where:
                followers = followers_for(parts, keeper.table, self._save)
                watch = FailedTrials(self.tally, self.news, self._on_failed)
                remembering = [keeper, watch, *followers, console]
                outstanding, late = Outstanding(), LateSaves()
                answers: Answers = {}
                deletions, overview = deletions_for(parts, journal), Overview(parts, journal)
                snapshots = snapshots_of(parts, journal, remembering, outstanding, overview.write)
                if past is not None:
                    first, answers = resume(
                        parts, past, remembering, outstanding, snapshots, deletions, late, first, code.data()
                    )
                elif place.fence > 1:  # An earlier driver left no journal.
                    clear_out(parts)
                observers = [watch, *observers_for(parts, keeper, followers, console)]
                host = host_for(plan.searcher, plan.space, engine, answers)
                loop = self._loop = Loop(
                    parts.controller, engine, host, journal.append, observers, say, journal.next_n - 1,
                    outstanding, snapshots.look, deletions, late, self.inbox,
                )  # fmt: skip
                if self._is_interrupted:
                    loop.interrupt()
                try:
                    place.open_mirror(lambda: journal.written_bytes, loop.leave)
                    console.open()
                    if plan.experiment.ui:
                        open_parts.callback(DashboardProcess(parts.folder).close)
                    loop.pump(late.events, is_past=True)
                    loop.pump(first)
                    if not engine.capabilities.repeats:
                        open_parts.callback(self._open_way_in())  # While the first trials start.
                        open_parts.callback(self._watch_machines())
                    loop.run()
                    if parts.controller.is_finished:
                        account = engine.account
                        journal.note("end", {"account": account.as_data()} if account is not None else {})
                    is_left = not (parts.controller.is_finished or parts.controller.is_running)
                    is_resumable = is_left and journal.is_at_path
                finally:
                    host.close()
                    engine.close()
                    if where.look() and place.url is None:
                        console.moved_to(str(where.folder))
                    unfinished = [(one, error) for one in observers if (error := _close(one)) is not None]
                    if journal.is_at_path:  # Otherwise `FolderWatch` reports it.
                        overview.write()
                        clear_up(parts, late)
                        mend_files(parts, loop.disconnected, unfinished)
                for observer, error in unfinished:
                    if observer.ends_run:
                        raise error
                if parts.controller.is_finished and (line := _early_end(parts.controller)):
                    parts.tell(line)
                if is_resumable and not is_submitted():
                    parts.tell(f"to go on with it: overtone resume {quote(str(parts.folder))}")

    def interrupt(self) -> None:
        """Interrupt the loop, now or when it begins; callable from any thread and from a signal handler."""
        self._is_interrupted = True
        loop = self._loop
        if loop is not None:
            loop.interrupt()

    def _open_way_in(self) -> Callable[[], None]:
        """Take requests from other processes, and return the function that ends that."""
        from overtone.control.server import ControlServer

        try:
            return ControlServer(self._parts.folder, self.inbox, {"stack": self.stacks}).close
        except OSError as error:
            say(f"{self._parts.folder} takes no requests from other processes: {error.strerror or error}")
            return self.inbox.close

    def _watch_machines(self) -> Callable[[], None]:
        """Sample the machines of the run, and return the function that ends that."""
        engine = self._parts.plan.engine
        spans_hosts = engine.capabilities.spans_hosts
        watch = MachineWatch(self._parts.place.mark, DRIVER if spans_hosts else os.uname().nodename)
        engine.on_sample = watch.put
        watch.start()
        return watch.close

    def stacks(self, wanted: str) -> str:
        """Return the stacks of a trial that is named by its id, how one begins or ends, or its index.

        Callable from any thread.

        Raises:
            OvertoneError: There is no such trial, or it has no process.
        """
        trial_id = find_trial(wanted, list(self._parts.controller.trials), self._parts.folder.name)
        return f"Trial {trial_id}\n{self._parts.plan.engine.stacks(trial_id)}"

    @property
    def folder(self) -> Path:
        """The experiment's folder, wherever it is now as far as known."""
        return self._parts.folder if self._where is None else self._where.folder

    def check_folder(self) -> None:
        """Check that the folder holds this run's journal.

        Raises:
            StorageError: It was moved or deleted.
        """
        if self._where is not None:
            self._where.check()

    def _save(self, trial_id: str) -> None:
        if self._loop is not None:
            self._loop.save(trial_id)

    def _on_failed(self) -> None:
        if self._parts.plan.experiment.fail_fast == "raise" and self._loop is not None:
            self._loop.leave()

    def _note_nothing(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        """Mark an experiment that ended before its first trial, so that its folder is removed."""
        if error is not None and self._parts.past is None and not self._parts.controller.trials:
            self._parts.place.is_nothing = True

    @contextmanager
    def _settled(self, journal: JournalWriter) -> Iterator[FolderWatch]:
        """Track the folder during the block and after it, in case it is moved or deleted."""
        controller = self._parts.controller
        where = self._where = FolderWatch(self._parts.place, journal, self.interrupt)
        try:
            yield where
        except BaseException as error:
            try:
                where.settle(controller.is_finished)
            except FolderGoneError as lost:
                if isinstance(error, OSError):  # The missing files went with the folder.
                    raise lost from error
                say(str(lost))
            raise
        else:
            where.settle(controller.is_finished)
        finally:
            self._loop = None  # It knows this object: both are freed with the run, not when garbage is.


def _refused(engine: Capabilities) -> dict[str, str]:
    """Return the kinds of requests that a run on this engine does not take, each with the reason."""
    if engine.repeats:
        reason = "a simulation takes only stop and note, since its resume repeats its events"
        return dict.fromkeys(set(KINDS) - {"stop", "note"}, reason)
    if not engine.pauses:
        reason = "its trials are run by the program that asked for them; stop_trial can end a trial"
        return dict.fromkeys(("pause_trial", "save_trial"), reason)
    return {}


def _early_end(controller: Controller) -> str:
    """Return a line about a search whose searcher had fewer configurations than trials were asked for."""
    n, total = len(controller.trials), controller.limits.total
    if not controller.view.search_is_over or total is None or n >= total:
        return ""
    return f"the search ended after {n} of {total} trials: the searcher has no more configurations"


def _close(observer: Observer) -> Exception | None:
    """Close an observer and return its exception, which must not hide the run's own error."""
    try:
        observer.close()
        return None
    except Exception as error:
        return error
