"""Replay of a journal into the new parts of an experiment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.protocols import Engine, Observer, Searcher, overrides
from overtone.core.recorded_choices import actions
from overtone.core.types import Config
from overtone.errors import OvertoneError
from overtone.journal.codec import Codec
from overtone.journal.garbage import not_collecting
from overtone.journal.reader import Plain, as_record
from overtone.journal.writer import JournalWriter
from overtone.run.pending_commands import Outstanding
from overtone.run.resume.snapshot import JournalMark
from overtone.run.searcher_host import tell
from overtone.standard_streams import say

_FROM_ENGINES = (
    m.CapacityChanged, m.Started, m.Reported, m.Saved, m.SaveFailed, m.Discarded, m.Noticed, m.Ended, m.Tick,
)  # fmt: skip
Entry = m.Record | Plain


@dataclass(frozen=True, slots=True)
class Divergence:
    """An event with another choice today than in the journal; the journal's choice was taken.

    Attributes:
        record: The journal's record.
        now: The choice of today's code.
        then: The journal's choice.
    """

    record: m.Record
    now: str
    then: str

    def __str__(self) -> str:
        event = type(self.record.event).__name__
        return f"record {self.record.n} ({event}) led to {self.then}; now it would lead to {self.now}"


def replay_into(
    controller: Controller,
    entries: Iterable[Entry],
    on_command: Callable[[m.Command], None] | None = None,
    on_record: Callable[[m.Record], None] | None = None,
    codec: Codec | None = None,
    on_plain: Callable[[Plain], None] | None = None,
) -> list[Divergence]:
    """Let a new controller handle the events of a journal again; return the choices that differ.

    Choices that differ only in their reasons are the same.

    Args:
        entries: Entries such as `read(path)`, or `read(path).entries()`, which is faster.
        on_command: Called with each resulting command.
        on_record: Called with each record after it is handled.
        codec: Needed if configs contain values that are not data.
        on_plain: Called instead of `on_record` for plain reports that come as parts, if given.
    """
    divergences: list[Divergence] = []
    codec = codec or Codec()
    again = controller.retake
    for entry in entries:
        if type(entry) is tuple:
            found = again(*entry[2:])
            if found is not None:
                divergences.extend(Divergence(as_record(entry), now, then) for now, then in found)
                if on_plain is not None:
                    on_plain(entry)
                elif on_record is not None:
                    on_record(as_record(entry))
                continue
        record = as_record(entry)
        outcome, differs = controller.replay(record)
        if on_command is not None:
            for command in outcome.commands:
                on_command(command)
        if not differs and outcome.choices != record.choices:  # as text, a tuple equals a list
            now, then = (codec.encode_choices(actions(one)) for one in (outcome.choices, record.choices))
            differs = [(now, then)] if now != then else []
        divergences.extend(Divergence(record, now, then) for now, then in differs)
        if on_record is not None:
            on_record(record)
    return divergences


class Resuming:
    """Replays a journal to rebuild the state of controller, searcher and observers.

    Args:
        writer: The journal's, reopened.
        controller: A new controller.
        searcher: A new searcher, already given its space and seed.
        observers: Receive the past records.
        outstanding: Empty; follows along.

    Attributes:
        outstanding: Requests that no record answers.
        answers: Suggestions for requests that had no answer yet.
    """

    def __init__(
        self,
        writer: JournalWriter,
        controller: Controller,
        searcher: Searcher,
        observers: Sequence[Observer],
        outstanding: Outstanding | None = None,
    ) -> None:
        self.outstanding = outstanding or Outstanding()
        self.answers: dict[int, Config | None] = {}
        self._writer = writer
        self._controller = controller
        self._searcher = searcher
        self._asks_again = searcher.replay == "asked"
        self._observers = [one for one in observers if overrides(one, Observer.on_past)]
        self._followers = [one for one in self._observers if one.follows_results]
        self._to_engine: Callable[[m.Command], None] | None = None

    def replay(self, since: JournalMark | None = None) -> list[Divergence]:
        """Replay the journal and return where today's code would have chosen otherwise.

        Args:
            since: Place in the journal to begin at; all parts already have the state of that place.

        Raises:
            StorageError: The journal cannot be read.
        """
        entries: Iterable[Entry] = self._writer.entries(*since or ())
        if overrides(self._searcher, Searcher.on_suggested):
            entries = map(self._heard, entries)
        on_command, on_record, on_plain = self._on_command, self._on_record, self._on_plain
        with not_collecting():
            return replay_into(self._controller, entries, on_command, on_record, self._writer.codec, on_plain)

    def replay_in(self, engine: Engine, first: Sequence[m.Event]) -> list[m.Event]:
        """Replay while a simulated engine repeats its events; return its next events.

        Args:
            first: The first events of the engine.

        Raises:
            OvertoneError: The events differ from the recorded ones.
        """
        commands: list[m.Command] = []
        due, is_told = deque(first), False
        self._to_engine = commands.append
        for record in self._writer.past():
            self._heard(record)
            event = record.event
            if type(event) is m.Resumed:
                is_told = True  # by the driver, and not by the engine: the capacity that follows
            elif type(event) is m.CapacityChanged and is_told:
                is_told = False
            elif isinstance(event, _FROM_ENGINES):
                passed = None
                while True:
                    if not due:
                        engine.submit(commands)
                        commands.clear()
                        due.extend(engine.poll(None))
                    again = due.popleft() if due else None
                    if _is_same(again, event):
                        break
                    passed = passed or again  # one that came too late is in no journal
                    if again is None:
                        raise OvertoneError(
                            f"the simulation goes another way than it did: record {record.n} is "
                            f"{event!r:.300}, now it is {passed!r:.300}. Its curves or its engine were "
                            "changed: begin anew"
                        )
            replay_into(self._controller, [record], self._on_command, self._on_record)
        engine.submit(commands)
        return list(due)

    def _heard(self, entry: Entry) -> Entry:
        """Tell the searcher of the suggestion in `entry` before it is handled, and return `entry`."""
        event = entry.event if type(entry) is m.Record else None
        if type(event) is m.Suggested and event.config is not None:
            self._searcher.on_suggested(event.index, event.config)
        return entry

    def _on_command(self, command: m.Command) -> None:
        if isinstance(command, m.Observe):
            tell(self._searcher, command)
        elif isinstance(command, m.Suggest):
            if self._asks_again and command.index not in self.outstanding.asked:
                self.answers[command.index] = self._searcher.suggest(command.index)
            self.outstanding.on_command(command)
        else:
            self.outstanding.on_command(command)
            if self._to_engine is not None:
                self._to_engine(command)

    def _on_record(self, record: m.Record) -> None:
        event = record.event
        self.outstanding.on_event(event)
        if type(event) is m.Suggested:
            self.answers.pop(event.index, None)
        for observer in self._observers:
            try:
                observer.on_past(record)
            except Exception as error:  # the user's own: it cannot hurt
                self._disconnect(observer, error)

    def _on_plain(self, entry: Plain) -> None:
        """Handle a report without choices, as `_on_record` does with a record."""
        for observer in self._followers:
            try:
                observer.on_past_report(*entry)
            except Exception as error:
                self._disconnect(observer, error)

    def _disconnect(self, observer: Observer, error: Exception) -> None:
        self._observers = [one for one in self._observers if one is not observer]
        self._followers = [one for one in self._followers if one is not observer]
        who, what = type(observer).__name__, f"{type(error).__name__}: {error}"
        say(f"{who} raised {what} at what happened before, and hears no more of that")


def _is_same(again: m.Event | None, event: m.Event) -> bool:
    if type(again) is not type(event):
        return False
    if isinstance(event, m.Reported):
        assert isinstance(again, m.Reported)
        return (again.time, again.trial_id, again.attempt, again.t) == (
            event.time, event.trial_id, event.attempt, event.t,
        )  # fmt: skip
    return again == event
