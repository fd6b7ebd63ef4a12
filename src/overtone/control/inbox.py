"""Requests on their way to the controller: from any thread, one by one, each with its answer."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from overtone.control.answers import Answer, ControlError, Refusal, answer_in, refusal
from overtone.core.controller import Controller
from overtone.core.messages import Added, Event, Record, Requested
from overtone.core.outcome import Outcome
from overtone.errors import OvertoneError

Reply = Callable[[dict[str, Any]], None]
"""Takes the answer as a document; it may not wait, since the loop calls it."""

OVER = "the run is at its end and takes no more requests"

_MOST_REMEMBERED = 10_000
_STALE = Outcome((), [], is_stale=True)


@dataclass(slots=True)
class _Ask:
    event: Requested
    reply: Reply | None
    trial_id: str = ""


class Inbox:
    """Takes requests from any thread; the loop hands them to the controller and answers them.

    Args:
        controller: Handles the requests.
        refused: The kinds of requests that are not taken, each with the reason.

    Attributes:
        asks: Requests that the loop did not take yet.
        waiting: Requests that were handled and are not in the journal yet, by id.
        wake: Wakes the loop.
    """

    def __init__(self, controller: Controller, refused: Mapping[str, str] | None = None) -> None:
        self.asks: deque[_Ask] = deque()
        self.waiting: dict[str, list[_Ask]] = {}
        self.wake: Callable[[], None] = lambda: None
        self._controller = controller
        self._refused = refused or {}
        self._taken: dict[int, _Ask] = {}
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = ""

    # --- any thread ------------------------------------------------------------------------

    def put(self, event: Requested, reply: Reply | None = None) -> None:
        """Hand in a request; `reply` gets the answer, at once or from the loop's thread."""
        if not event.request:
            event = replace(event, request=os.urandom(12).hex())
        with self._lock:
            closed = self._closed
            if not closed:
                self.asks.append(_Ask(event, reply))
        if closed:
            _refuse(reply, closed, "over")
        else:
            self.wake()

    # --- the loop's thread -----------------------------------------------------------------

    def events(self, now: float) -> list[Requested]:
        """Return the requests that came, as events; those that make no sense are refused."""
        with self._lock:
            asks, self.asks = self.asks, deque()
        events = []
        for ask in asks:
            try:
                self._prepare(ask, now)
            except OvertoneError as error:
                _refuse(ask.reply, str(error), getattr(error, "kind", "wrong"))
                continue
            self._taken[id(ask.event)] = ask
            events.append(ask.event)
        return events

    def handle(self, event: Event) -> Outcome:
        """Let the controller handle an event; a request is refused or remembered for its answer.

        Raises:
            Exception: See `Controller.handle`.
        """
        ask = self._taken.pop(id(event), None)
        if ask is None:
            return self._controller.handle(event)
        request = ask.event.request
        if request in self.waiting:
            self.waiting[request].append(ask)
            return _STALE
        if (n := self._controller.answered.get(request)) is not None:
            known = Answer(n, "" if ask.event.what == "add" else ask.event.trial_id)
            _send(ask.reply, self._answers.get(request) or known)
            return _STALE
        if reason := self._controller.objection(ask.event):
            _refuse(ask.reply, reason, "refused")
            return _STALE
        self.waiting[request] = [ask]
        outcome = self._controller.handle(event)
        if outcome.is_stale:
            del self.waiting[request]
            _refuse(ask.reply, "it came too late: nothing is left to change", "refused")
        added = next((one.trial_id for one in outcome.choices if type(one) is Added), "")
        ask.trial_id = added if ask.event.what == "add" else ask.event.trial_id
        return outcome

    def written(self, records: Iterable[Record]) -> None:
        """Answer the requests among records that are in the journal now."""
        for record in records:
            event = record.event
            if type(event) is Requested and (asks := self.waiting.pop(event.request, None)):
                self._controller.answered.note(event.request, record.n)
                answer = Answer(record.n, asks[0].trial_id)
                self._answers[event.request] = answer
                if len(self._answers) > _MOST_REMEMBERED:
                    self._answers.popitem(last=False)
                for ask in asks:
                    _send(ask.reply, answer)

    def shut(self) -> bool:
        """Take no more requests, unless some wait to be handled; return whether it is shut."""
        with self._lock:
            if not self.asks:
                self._closed = OVER
            return not self.asks

    def close(self) -> None:
        """Take no more requests, and refuse those that were not handled or not recorded."""
        with self._lock:
            self._closed = OVER
            asks, self.asks = self.asks, deque()
        for ask in [*asks, *self._taken.values()]:
            _refuse(ask.reply, OVER, "over")
        for several in self.waiting.values():
            for ask in several:
                _refuse(ask.reply, "the run ended before the request was in its journal", "over")
        self._taken.clear()
        self.waiting.clear()

    def _prepare(self, ask: _Ask, now: float) -> None:
        event = ask.event
        if event.what in self._refused:
            raise ControlError(f"{event.what}: {self._refused[event.what]}", "refused")
        from overtone.reading.trial_names import find_trial

        trials = self._controller.trials
        changes: dict[str, Any] = {"time": now}
        for name in ("trial_id", "source"):
            wanted = getattr(event, name)
            if wanted and wanted not in trials:
                changes[name] = find_trial(wanted, trials)
        ask.event = replace(event, **changes)


def ask(inbox: Inbox, event: Requested) -> Answer:
    """Make a request in the driver's process, from another thread than the loop's; wait for its answer.

    Raises:
        ControlError: The request was refused; its kind is "over" if the run has ended.
    """
    answered, documents = threading.Event(), list[dict[str, Any]]()

    def reply(document: dict[str, Any]) -> None:
        documents.append(document)
        answered.set()

    inbox.put(event, reply)
    answered.wait()
    return answer_in(documents[0])


def _send(reply: Reply | None, answer: Answer) -> None:
    if reply is not None:
        reply(answer.as_data())


def _refuse(reply: Reply | None, why: str, kind: Refusal) -> None:
    if reply is not None:
        reply(refusal(why, kind))
