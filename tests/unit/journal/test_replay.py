from __future__ import annotations

from dataclasses import replace

from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.messages import CapacityChanged, Ended, Moved, Record, Reported, Start, Started, Suggested
from overtone.core.types import Why
from overtone.journal.header import new_header
from overtone.journal.reader import read
from overtone.journal.writer import JournalWriter
from overtone.run.resume.replay import replay_into
from overtone.schedulers.fifo import FIFOScheduler


def new_controller() -> Controller:
    return Controller(FIFOScheduler(), Goal.collect([("the call", "loss", "min")]), seed=3)


def experiment() -> list[Record]:
    """One trial, run by a controller."""
    controller, records = new_controller(), []

    def handle(event):
        outcome = controller.handle(event)
        records.append(Record(len(records) + 2, event, outcome.choices))
        return outcome.commands

    handle(CapacityChanged(0.0, {"here": {"cpu": 1.0}}))
    (start,) = [one for one in handle(Suggested(0.1, 0, {"lr": 0.1})) if isinstance(one, Start)]
    handle(Started(0.2, start.trial_id, 0, "here", 1))
    handle(Reported(0.3, start.trial_id, 0, 1, {"loss": 0.5, "training_iteration": 1}))
    handle(Ended(0.4, start.trial_id, 0, "returned"))
    return records


def test_replay_into_a_fresh_controller_agrees(path) -> None:
    writer = JournalWriter(path, new_header(3, {}))
    writer.append(experiment())
    writer.close()
    controller = new_controller()
    assert replay_into(controller, read(path)) == []
    (trial,) = controller.trials.values()
    assert (trial.status, trial.n_results) == ("TERMINATED", 1)


def test_replay_into_tells_where_it_diverges(path) -> None:
    records = experiment()
    last = records[-1]
    moved = last.choices[0]
    assert isinstance(moved, Moved)
    records[-1] = replace(last, choices=(replace(moved, error="boom"), *last.choices[1:]))
    writer = JournalWriter(path, new_header(3, {}))
    writer.append(records)
    writer.close()
    (divergence,) = replay_into(new_controller(), read(path))
    assert divergence.record == records[-1]
    assert str(divergence).startswith(f'record {last.n} (Ended) led to {{"c":"moved"')
    assert '"error":"boom"' in str(divergence)


def test_another_reason_is_no_divergence(path) -> None:
    records = experiment()
    last = records[-1]
    moved = last.choices[0]
    assert isinstance(moved, Moved)
    records[-1] = replace(last, choices=(replace(moved, why=Why("asha")), *last.choices[1:]))
    writer = JournalWriter(path, new_header(3, {}))
    writer.append(records)
    writer.close()
    assert replay_into(new_controller(), read(path)) == []
