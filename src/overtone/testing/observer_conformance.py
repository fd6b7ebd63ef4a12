"""Conformance tests for observers: subclass the test class and define `make_observer`.

class TestMyObserver(ObserverConformance):
    def make_observer(self, folder):
        return MyObserver(folder)
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from overtone.core.messages import Discarded, Interrupted, Moved, Record, Reported, Requested, Ruled, Tick
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.core.types import Checkpoint, Why
from overtone.testing.scripted_records import Story


class WithTable(Observer):
    """An observer and the table of trials that it reads, as in a run.

    Args:
        make: Returns the observer of a table, which has each record first.
    """

    def __init__(self, make: Callable[[TrialTable], Observer]) -> None:
        self.table = TrialTable()
        self.observer = make(self.table)

    def on_record(self, record: Record) -> None:
        self.table.apply(record)
        self.observer.on_record(record)

    def flush(self) -> None:
        self.observer.flush()

    def close(self) -> None:
        self.observer.close()


class ObserverConformance(ABC):
    """The contract of an observer: it does not raise for any event of an experiment."""

    @abstractmethod
    def make_observer(self, folder: Path) -> Observer:
        """Return an observer of the experiment in `folder`."""

    def test_it_follows_everything_that_can_happen(self, tmp_path: Path) -> None:
        observer = self.make_observer(tmp_path)
        for record in eventful():
            observer.on_record(record)
            observer.flush()
        observer.close()

    def test_flush_may_be_rare(self, tmp_path: Path) -> None:
        observer = self.make_observer(tmp_path)
        for record in eventful():
            observer.on_record(record)
        observer.close()

    def test_an_experiment_may_end_at_any_record(self, tmp_path: Path) -> None:
        records = eventful()
        for count in (0, 1, len(records) // 2, len(records) - 1):
            (tmp_path / str(count)).mkdir()  # an experiment's folder is there before its observers
            observer = self.make_observer(tmp_path / str(count))
            for record in records[:count]:
                observer.on_record(record)
            observer.flush()
            observer.close()

    def test_closing_twice_is_safe(self, tmp_path: Path) -> None:
        observer = self.make_observer(tmp_path)
        for record in eventful():
            observer.on_record(record)
        observer.close()
        observer.close()


def eventful() -> list[Record]:
    """Return the records of an experiment in which much goes wrong."""
    story = Story()
    story.capacity(cpu=4.0)
    story.note("the metric is loss")
    good, odd, bad, late = (story.add({"lr": 0.1, "nested": {"x": [1, None]}}) for _ in range(4))
    for trial in (good, odd, bad):
        story.time += 1.0
        story.start(trial)
    for t in range(3):
        story.time += 1.0
        story.report(good, loss=1 / (t + 1), nested={"acc": t, "text": 'a, "b"\n'})
    story.report(good, checkpoint=Checkpoint(good, 4, "/nowhere"), loss=float("nan"), new=float("inf"))
    story.report(good, Ruled(good, 4, "redone"), loss=0.0)
    story.report(odd, text="ü\ud800", none=None, many=[1, 2], empty={})
    story.report(odd, Ruled(odd, 2, "restart", Why("pbt"), {"lr": 0.2, "more": 1}), Moved(odd, "HALTING", 0))
    _tell(
        story,
        Interrupted(story.time),
        Requested(story.time, "stop"),
        Tick(story.time),
        Discarded(story.time, "u"),
    )
    story.recover(bad, "ValueError: no")
    story.start(bad)
    story.end(bad, cause="raised", error="ValueError: no")
    story.report_stopped(good, Why("asha", rank=3, of=4), loss=0.1)
    story.end(good, cause="halted", why=Why("asha"))
    story.end(late, cause="halted")  # it never ran
    return [_with_raw(record) for record in story.records]


def _tell(story: Story, *events: Interrupted | Requested | Tick | Discarded) -> None:
    for event in events:
        story.records.append(Record(len(story.records) + 1, event))


def _with_raw(record: Record) -> Record:
    """Return the record as an engine with processes gives it: every other report has its JSON text."""
    event = record.event
    if not isinstance(event, Reported) or record.n % 2:
        return record
    from overtone.journal.text import dumps

    return replace(record, event=replace(event, raw=dumps(event.metrics)))


def lines_of(path: Path) -> list[dict[str, object]]:
    """Return the objects in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]
