from __future__ import annotations

from dataclasses import replace

import pytest

from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.messages import CapacityChanged, Ended, Record, Reported, Start, Started, Suggested
from overtone.journal.header import new_header
from overtone.journal.reader import as_record, read
from overtone.journal.writer import JournalWriter
from overtone.run.resume.replay import replay_into
from overtone.schedulers.asha import ASHAScheduler


def new_controller(grace_period: int = 2) -> Controller:
    goal = Goal.collect([("the call", "loss", "min")], is_needed=True)
    return Controller(ASHAScheduler(max_t=9, grace_period=grace_period), goal, seed=3)


@pytest.fixture
def recorded(path) -> Controller:
    """The controller of an experiment whose journal is at `path`: three trials, the last one still runs."""
    controller, records = new_controller(), []

    def handle(event):
        outcome = controller.handle(event)
        records.append(Record(len(records) + 2, event, outcome.choices))
        return outcome.commands

    handle(CapacityChanged(0.0, {"here": {"cpu": 1.0}}))
    for index, loss in enumerate([0.5, 0.9, float("nan")]):
        (start,) = [one for one in handle(Suggested(0.1, index, {"lr": 0.1})) if isinstance(one, Start)]
        handle(Started(0.2, start.trial_id, 0, "here", 1))
        for t in range(1, 6):
            if controller.trials[start.trial_id].status == "RUNNING":
                metrics = {"loss": loss / t, "training_iteration": t, "done": False, "more": {"x": t}}
                handle(Reported(0.3, start.trial_id, 0, t, metrics))
        if index < 2:
            handle(Ended(0.4, start.trial_id, 0, "returned"))
    writer = JournalWriter(path, new_header(3, {}))
    writer.append(records)
    writer.close()
    return controller


def states(controller: Controller) -> str:
    return repr([
        (one.id, one.status, one.n_results, one.ruled_t, one.attempt, one.why, one.last and dict(one.last),
         one.best and one.best.score)
        for one in controller.trials.values()
    ])  # fmt: skip


def test_entries_are_the_records(path, recorded) -> None:
    entries = list(read(path).entries())
    assert sum(type(one) is tuple for one in entries) == sum(
        isinstance(one.event, Reported) and not one.choices for one in read(path)
    )
    assert repr([as_record(one) for one in entries]) == repr(list(read(path, lazy=True)))


def test_a_replay_of_entries_leads_to_the_same_state(path, recorded) -> None:
    of_records, of_entries, heard = new_controller(), new_controller(), []
    assert replay_into(of_records, read(path)) == []
    assert replay_into(of_entries, read(path).entries(), on_record=heard.append) == []
    assert states(of_entries) == states(of_records) == states(recorded)
    assert repr(of_entries._scheduler.describe()) == repr(of_records._scheduler.describe())
    assert [one.n for one in heard] == [one.n for one in read(path)]


def test_where_todays_code_would_decide_otherwise_nothing_is_done(path, recorded) -> None:
    of_records, of_entries = new_controller(grace_period=1), new_controller(grace_period=1)
    expected = replay_into(of_records, read(path))
    assert expected
    assert list(map(str, replay_into(of_entries, read(path).entries()))) == list(map(str, expected))
    assert states(of_entries) == states(of_records)


@pytest.mark.parametrize("change", [{"trial_id": "nobody"}, {"attempt": 7}, {"t": 1}])
def test_what_is_not_current_is_left_to_the_long_way(path, recorded, change) -> None:
    newest = [one.event for one in read(path) if isinstance(one.event, Reported)][-1]
    late = replace(newest, **{"t": 6, **change})
    before = states(recorded)
    assert recorded.retake(late.trial_id, late.attempt, late.t, late.metrics) is None
    assert states(recorded) == before
