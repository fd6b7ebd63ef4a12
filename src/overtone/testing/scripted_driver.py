"""A driver without trials, for tests of the way in: it answers requests as a script says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from overtone.control.inbox import Inbox
from overtone.core.messages import Added, Event, Record, Requested
from overtone.core.outcome import Outcome
from overtone.core.resources import Resources


class ScriptedController:
    """Takes each request but those with an objection.

    Args:
        trials: The ids of the trials.
        objections: Texts by the kind of the request.
    """

    def __init__(self, *trials: str, objections: dict[str, str] | None = None) -> None:
        self.trials = dict.fromkeys(trials)
        self.handled: list[Event] = []
        known: dict[str, int] = {}
        self.answered = SimpleNamespace(get=known.get, note=known.__setitem__)
        self._objections = objections or {}

    def objection(self, event: Requested) -> str | None:
        """Return why the request is refused; None if it is not."""
        return self._objections.get(event.what)

    def handle(self, event: Event) -> Outcome:
        """Remember the event; `add` makes a trial."""
        self.handled.append(event)
        if not isinstance(event, Requested) or event.what != "add":
            return Outcome((), [])
        trial_id = f"358bb_{len(self.trials):05d}"
        self.trials[trial_id] = None
        added = Added(trial_id, len(self.trials) - 1, event.config or {}, Resources.of({"cpu": 1}), "")
        return Outcome((added,), [])


class ScriptedDriver:
    """The part of a run's loop that handles requests, in batches.

    Attributes:
        records: What the journal would have.
        batches: The number of requests in each batch.
    """

    def __init__(self, controller: ScriptedController) -> None:
        self.controller = controller
        self.inbox = Inbox(controller)  # type: ignore[arg-type]
        self.records: list[Record] = []
        self.batches: list[int] = []
        self.before_write: Callable[[], None] = lambda: None

    def step(self) -> None:
        """Handle the requests that came, write their records, and answer."""
        events = self.inbox.events(float(len(self.records)))
        records: list[Record] = []
        for event in events:
            outcome = self.inbox.handle(event)
            if not outcome.is_stale:
                records.append(Record(len(self.records) + len(records) + 2, event, outcome.choices))
        self.before_write()
        self.records += records
        self.batches.append(len(events))
        self.inbox.written(records)

    @contextmanager
    def running(self) -> Iterator[ScriptedDriver]:
        """Step in a thread whenever the inbox wakes it."""
        bell, is_over = threading.Event(), threading.Event()
        self.inbox.wake = bell.set

        def work() -> None:
            while bell.wait() and not is_over.is_set():
                bell.clear()
                self.step()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            is_over.set()
            bell.set()
            thread.join()
