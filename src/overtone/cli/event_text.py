"""Text of an experiment's records, as lines for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from overtone.core import messages as m
from overtone.core.table import TrialTable
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.plain_text import clean
from overtone.observers.display.progress import Progress
from overtone.observers.display.sentences import ended, parameters, reported
from overtone.reading.recorded_goal import inferred_goal, recorded_goal, recorded_objectives
from overtone.reading.request_text import asked

_RULED = {
    "pause": "is paused",
    "restart": "is restarted",
    "continue": "goes on with another config",
}


_OFTEN = ("stop", "save_trial")
"""Requests that programs make, and that other lines tell."""


class EventText(NamedTuple):
    """A line: its record, what it is about, and how to say it."""

    record: m.Record
    kind: str
    trial_id: str | None
    say: Callable[[], str]


class Telling:
    """Follows the records of an experiment.

    Args:
        name, folder: Of the experiment.
        header: The first record of its journal.
        tells_results: Whether each result has a line.

    Attributes:
        progress: How far the experiment is.
    """

    def __init__(self, name: str, folder: str, header: dict[str, Any], tells_results: bool = True) -> None:
        parts = header.get("parts")
        metric, mode = recorded_goal(header)
        limits = parts.get("limits") if isinstance(parts, dict) else None
        planned = limits.get("total") if isinstance(limits, dict) else None
        self._planned = planned if isinstance(planned, int) else None
        facts = ConsoleFacts(
            name=name,
            folder=folder,
            engine_line="",
            clock=lambda: 0.0,
            metric=metric,
            mode=mode,
            limits=recorded_objectives(header),
            total=lambda: self._planned,
        )
        self.progress = Progress(facts, TrialTable(), keeps_results=True)
        self._tells_results = tells_results

    def lines(self, record: m.Record) -> Iterator[EventText]:
        """Yield the lines for a record."""
        progress, event = self.progress, record.event
        if type(event) is m.Reported and progress.facts.metric is None:
            metric, mode = inferred_goal(event.metrics)
            if metric is not None:
                progress.facts.metric, progress.facts.mode = metric, mode
        progress.table.apply(record)
        progress.apply(record)
        if self._tells_results:
            for row, result in progress.results:
                yield EventText(record, "result", row.id, partial(reported, progress, row, result))
        if record.choices or type(event) is not m.Reported:
            yield from self._others(record)
        progress.clear_news()

    def _others(self, record: m.Record) -> Iterator[EventText]:
        progress, event = self.progress, record.event
        if isinstance(event, m.Started):
            yield EventText(record, "started", event.trial_id, partial(self._started, event))
        elif isinstance(event, m.Resumed):
            yield EventText(record, "resumed", None, lambda: "a new driver goes on with the experiment")
        elif isinstance(event, m.Interrupted):
            yield EventText(record, "interrupted", None, lambda: "interrupted: trials save and end")
        elif isinstance(event, m.Requested) and (event.who or event.what not in _OFTEN):
            yield EventText(record, "asked", event.trial_id or None, partial(_asked, event))
        for choice in record.choices:
            if isinstance(choice, m.Ruled) and choice.what in _RULED:
                yield EventText(record, "ruled", choice.trial_id, partial(_ruled, choice))
            elif isinstance(choice, m.Moved) and choice.status == "PENDING" and choice.error:
                yield EventText(record, "failed", choice.trial_id, partial(_failed, choice))
        for ending in progress.endings:
            text = ended(progress, ending, progress.n_ended)
            yield EventText(record, "ended", ending.row.id, partial(str, text))
        for note in progress.notes:
            yield EventText(record, "note", None, partial("note: {}".format, clean(note)))

    def _started(self, event: m.Started) -> str:
        shown = parameters(self.progress, self.progress.table.rows[event.trial_id].config)
        state = f" from iteration {event.restored.t}" if event.restored is not None else ""
        again = f", attempt {event.attempt + 1}" if event.attempt else ""
        return f"{clean(event.trial_id)} started{state}{again}{f' ({shown})' if shown else ''}"


def _asked(event: m.Requested) -> str:
    about = f"{clean(event.trial_id)}: " if event.trial_id and event.what != "add" else ""
    return f"{about}{clean(asked(event))}"


def _ruled(ruled: m.Ruled) -> str:
    whose = f" from the state of {clean(ruled.source)}" if ruled.source else ""
    by = f" by {clean(ruled.why.rule)}" if ruled.why is not None else ""
    return f"{clean(ruled.trial_id)} {_RULED[ruled.what]}{whose}{by}"


def _failed(moved: m.Moved) -> str:
    error = clean(moved.error.strip().split("\n", 1)[0])
    return f"{clean(moved.trial_id)} failed and is tried again: {error}"
