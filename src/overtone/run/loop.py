"""The loop: from the engine to the controller, the journal, the observers, and back to the engine."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from overtone.control.inbox import Inbox
from overtone.core.controller import Controller
from overtone.core.messages import (
    Command,
    Discard,
    Ended,
    Event,
    Halt,
    Interrupted,
    Observe,
    Proceed,
    Record,
    Reported,
    Requested,
    Start,
    Suggest,
    Suggested,
)
from overtone.core.protocols import Engine, Observer
from overtone.errors import StorageError
from overtone.journal.garbage import seldom_collecting
from overtone.run.pending_commands import ANSWERS, QUESTIONS, Outstanding
from overtone.run.searcher_host import Host
from overtone.run.storage.deletions import Deletions
from overtone.store.backoff import pauses
from overtone.store.folder_mark import FolderGoneError
from overtone.store.room import PATIENCE_S, is_in_vain

if TYPE_CHECKING:
    from overtone.run.storage.leftover_checkpoints import LateSaves

IDLE_S = 0.25
"""Seconds that a poll may last; observers are flushed at least this often."""

JOURNAL_PATIENCE_S = PATIENCE_S
"""Seconds during which writes to a journal that fail (a full disk) are retried."""

JOURNAL_PAUSES_S = 0.1, 1.0
"""The first and the longest pause between two such tries."""

GATHERED = 1024
"""Records that are written together on an engine that repeats its events."""

ABANDON_S = 10.0
"""Seconds that trials get to save and end after a scheduler, searcher, stopper or callback raised."""

DELETIONS_PATIENCE_S = 10.0
"""Seconds that a finished run waits for checkpoints to be deleted."""


class Loop:
    """Drives one experiment to its end.

    Args:
        controller: Makes the decisions.
        engine: Runs trials; it is open.
        host: Runs the searcher.
        append: Writes records to the journal.
        observers: Receive each record after it is in the journal.
        warn: Prints a line for the user.
        n: The number of the journal's last line.
        outstanding: Unanswered requests, also those of an earlier driver; updated by the loop.
        look: Called when all events so far are in the journal and all observers have them.
        deletions: Holds deletions of checkpoints until the journal is safe; None for engines that
            repeat their events.
        late: Checkpoints of attempts whose start is in no record.
        inbox: Requests from outside; by default there are none.
    """

    def __init__(
        self,
        controller: Controller,
        engine: Engine,
        host: Host,
        append: Callable[[Sequence[Record]], None],
        observers: Sequence[Observer],
        warn: Callable[[str], None],
        n: int = 1,
        outstanding: Outstanding | None = None,
        look: Callable[[], None] = lambda: None,
        deletions: Deletions | None = None,
        late: LateSaves | None = None,
        inbox: Inbox | None = None,
    ) -> None:
        self._controller = controller
        self._engine = engine
        self._host = host
        self._append = append
        self._observers = list(observers)
        self._followers = [each for each in observers if each.follows_results]
        self.disconnected: list[Observer] = []
        self._failure: Exception | None = None
        self._warn = warn
        self._n = n
        self._is_left = False
        self._outstanding = outstanding or Outstanding()
        self._look = look
        self._deletions = deletions if not engine.capabilities.repeats else None
        self._late = late
        self._gathers = engine.capabilities.repeats
        self._gathered: list[Record] = []
        self._gathered_at = time.monotonic()
        self._is_interrupted = False
        self._inbox = inbox or Inbox(controller)
        self._inbox.wake = engine.wake
        self._to_save: list[str] = []
        self._is_around_trials = engine.capabilities.calls_pump  # Trials end if the poll raises.
        engine.attach(self.pump)

    def run(self) -> None:
        """Run until the controller is done, or `leave` was called.

        Raises:
            Exception: A scheduler, a searcher, a callback or the journal raised it; all trials were
                asked to save before.
        """
        try:
            # trials in this process may leave large objects to the collector
            with nullcontext() if self._is_around_trials and not self._gathers else seldom_collecting():
                while not self._is_over():
                    self._step()
            self._await_deletions()
            self._put_down()
            self._raise_failure()
        except Exception as error:
            self._put_down()
            if not isinstance(error, StorageError):  # New checkpoints could not be recorded.
                self._abandon()
            raise
        finally:
            self._inbox.close()
            self._put_down()

    def interrupt(self) -> None:
        """End the search gracefully; callable from any thread and from a signal handler."""
        self._is_interrupted = True
        self._engine.wake()

    def save(self, trial_id: str) -> None:
        """Make a trial save, at an observer's request."""
        if not self._gathers:  # Repeated events would differ.
            self._to_save.append(trial_id)

    def leave(self) -> None:
        """Make `run` return after this batch; running trials end with the engine."""
        self._is_left = True

    def pump(self, events: Iterable[Event], is_past: bool = False) -> None:
        """Pass events to the controller, the journal and the observers; carry out the commands.

        Args:
            is_past: Whether the events happened under an earlier driver, so that a Resumed comes next.
                Then only deletions are carried out: trials started now would count as lost.
        """
        queue = deque(events)
        if self._is_interrupted and not is_past:  # A Resumed would undo it.
            self._is_interrupted = False
            queue.append(Interrupted(self._engine.now()))
        records: list[Record] = []
        commands: list[Command] = []
        discards: list[Command] = []
        handle, submit = self._controller.handle, self._host.submit
        if self._inbox.asks and not is_past:
            queue.extend(self._inbox.events(self._engine.now()))
            handle = self._inbox.handle
        note, expect = self._outstanding.on_event, self._outstanding.on_command
        while queue:
            event = queue.popleft()
            try:
                choices, orders, is_stale = handle(event)
            except Exception:
                # Record the handled events, and the event that raised, before the error is raised. A resume
                # asks for a suggestion again, and an engine that repeats events sends them again.
                if not self._gathers and type(event) is not Suggested:
                    self._n += 1
                    records.append(Record(self._n, event, self._controller.choices_so_far))
                self._put_down(records)
                raise
            if is_stale:
                continue
            if type(event) in ANSWERS:
                note(event)
            self._n += 1
            records.append(Record(self._n, event, choices))
            for order in orders:
                if type(order) in QUESTIONS:
                    expect(order)
                if type(order) is Suggest or type(order) is Observe:
                    try:
                        found = None if is_past and type(order) is Suggest else submit(order)
                    except Exception:
                        self._put_down(records)
                        raise
                    if found is not None:
                        queue.append(found)
                elif type(order) is Discard and self._deletions is not None:
                    discards.append(order)
                elif type(order) is Start and self._late and not is_past:
                    begun, heard = self._late.begun(order, self._engine.now())
                    queue.extend(heard)
                    if begun is not None:
                        commands.append(begun)
                elif not is_past:
                    commands.append(order)
        if self._gathers:
            self._gathered += records
            is_due = len(self._gathered) >= GATHERED or time.monotonic() - self._gathered_at > IDLE_S
            if is_due or self._inbox.waiting:
                self._put_down()
        elif records:
            self._write(records)
            self._show(records)
            self._look()
        if self._to_save:
            self._add_saves(commands)
        if self._deletions is not None and (discards or self._deletions):
            self._deletions.hold(discards)
            commands += self._deletions.due()
        if commands:
            self._engine.submit(commands)
        self._raise_failure()

    def _add_saves(self, commands: list[Command]) -> None:
        """Add saves requested by observers to the Proceeds of waiting trials."""
        asked, self._to_save = dict.fromkeys(self._to_save), []
        records: list[Record] = []
        for trial_id in asked:
            event = Requested(self._engine.now(), "save_trial", trial_id)
            choices, orders, is_stale = self._controller.handle(event)
            if is_stale:
                continue
            self._n += 1
            records.append(Record(self._n, event, choices))
            for i, command in enumerate(commands):
                if type(command) is Proceed and command.trial_id == trial_id:
                    commands[i] = replace(command, save=True)
                    break
            else:
                commands += orders
        if records:
            self._write(records)
            self._show(records)

    def _put_down(self, more: Sequence[Record] = ()) -> None:
        """Write and show the gathered records."""
        records, self._gathered = [*self._gathered, *more], []
        self._gathered_at = time.monotonic()
        if records:
            self._write(records)
            self._show(records)

    def _step(self) -> None:
        events = self._engine.poll(IDLE_S)
        answers = self._host.poll()
        if answers:
            events = [*events, *answers]
        if events or self._is_interrupted or self._inbox.asks:
            self.pump(events)
        else:
            self._show([])
        if self._deletions:
            self._engine.submit(self._deletions.due())
        self._raise_failure()

    def _is_over(self) -> bool:
        """Return whether nothing is left to do and no request has come: from then on none is taken."""
        return self._is_left or (self._controller.is_done and self._inbox.shut())

    def _write(self, records: Sequence[Record]) -> None:
        """Append records to the journal; failed writes are retried while the loop waits."""
        began, waiting = time.monotonic(), None
        while True:
            try:
                self._append(records)
                if self._inbox.waiting:
                    self._inbox.written(records)
                return
            except StorageError as error:
                if is_in_vain():
                    lost = f"{len(records)} record{'' if len(records) == 1 else 's'}"
                    self._warn(f"{lost} could not be written before the end: a resume does that work again")
                    raise
                if time.monotonic() - began > JOURNAL_PATIENCE_S:
                    raise
                if waiting is None:
                    self._warn(f"{error} (trying again for {JOURNAL_PATIENCE_S:g} s)")
                    waiting = pauses(*JOURNAL_PAUSES_S)
                time.sleep(next(waiting))

    def _show(self, records: Sequence[Record]) -> None:
        """Show each record to every observer before the next record: observers may share a table."""
        for record in records:
            is_plain = not record.choices and type(record.event) is Reported
            for observer in self._followers if is_plain else self._observers:
                try:
                    observer.on_record(record)
                except Exception as error:
                    self._disconnect(observer, error)
        for observer in self._observers:
            try:
                observer.flush()
            except Exception as error:
                self._disconnect(observer, error)

    def _disconnect(self, observer: Observer, error: Exception) -> None:
        if observer.ends_run:
            self._failure = self._failure or error  # Raised when the batch is carried out.
            return
        self._observers = [each for each in self._observers if each is not observer]
        self._followers = [each for each in self._followers if each is not observer]
        self.disconnected.append(observer)
        if isinstance(error, FolderGoneError):
            return  # `FolderWatch` reports it and ends the run.
        what = f"{type(observer).__name__} raised {type(error).__name__}: {error}{_last_frame(error)}"
        self._warn(f"{what}; it is disconnected, the run goes on")

    def _raise_failure(self) -> None:
        """Raise the exception of an observer that ends the run."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _await_deletions(self) -> None:
        """Record the last deletions of checkpoints, so that readers of the journal do not expect them."""
        give_up_at = time.monotonic() + DELETIONS_PATIENCE_S
        held = self._deletions
        if held:
            held.hasten()
            self._engine.submit(held.due())
        while self._outstanding.discards and time.monotonic() < give_up_at:
            if self._is_left and held:
                return  # Their records may never be safe: a resume deletes them.
            self._step()

    def _abandon(self) -> None:
        """End as at Ctrl-C after an algorithm or a callback raised, so that a resume can continue."""
        if self._gathers:
            return  # An engine that repeats events needs no checkpoints.
        live = [trial for trial in self._controller.trials.values() if trial.status.is_placed]
        waiting = {trial.id for trial in live}
        try:
            orders = self._wound_up([Interrupted(self._engine.now())])
            told = {order.trial_id for order in orders}
            orders += [Halt(trial.id, trial.attempt, save=True) for trial in live if trial.id not in told]
            self._engine.submit(orders)
            deadline = time.monotonic() + (0 if self._is_around_trials else ABANDON_S)
            while waiting and time.monotonic() < deadline:
                events = [event for event in self._engine.poll(IDLE_S) if getattr(event, "trial_id", None)]
                self._engine.submit(self._wound_up(events))
                waiting -= {event.trial_id for event in events if isinstance(event, Ended)}
        except Exception as error:
            self._warn(f"the trials could not be asked to save: {error}")

    def _wound_up(self, events: Iterable[Event]) -> list[Halt]:
        """Record events with the choices that are still possible; return the halts."""
        records: list[Record] = []
        orders: list[Halt] = []
        for event in events:
            try:
                choices, commands, is_stale = self._controller.handle(event)
            except Exception:  # The same fault as before.
                choices, commands, is_stale = self._controller.choices_so_far, [], False
            if not is_stale:
                self._n += 1
                records.append(Record(self._n, event, choices))
            orders += [order for order in commands if type(order) is Halt]
        self._put_down(records)
        return orders


def _last_frame(error: BaseException) -> str:
    """Return the place where `error` was raised, as " (file.py:12)"."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return f" ({at.tb_frame.f_code.co_filename}:{at.tb_lineno})" if at is not None else ""
