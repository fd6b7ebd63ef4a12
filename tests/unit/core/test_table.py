from __future__ import annotations

from dataclasses import replace

from overtone.core.messages import Ended, Moved, Record, Reported, Ruled, Saved
from overtone.core.resources import Resources
from overtone.core.table import TrialTable, constant_facts, full_result
from overtone.core.types import Checkpoint, Why
from overtone.testing.scripted_records import Story


def told(story: Story, **options) -> TrialTable:
    table = TrialTable(**options)
    for record in story.records:
        table.apply(record)
    return table


def test_a_trial_s_life() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.time = 1.0
    story.start(trial, pid=7)
    story.time = 2.0
    story.report(trial, loss=0.5)
    story.report(trial, loss=0.4)
    story.time = 3.0
    story.end(trial)
    row = told(story).rows[trial]
    assert (row.status, row.n_results, row.t, row.metrics["loss"]) == ("TERMINATED", 2, 2, 0.4)
    assert (row.pid, row.hostname, row.node, row.node_ip) == (7, "host", "127.0.0.1", "127.0.0.1")
    assert (row.started, row.ended, row.attempt, row.why) == (1.0, 3.0, 1, Why("returned"))
    assert row.is_final


def test_counts_and_used_resources_follow_the_placed_trials() -> None:
    story = Story()
    story.capacity(cpu=4, gpu=1)
    one, two = story.add({}, {"cpu": 1, "gpu": 0.1}), story.add({}, {"cpu": 2})
    story.start(one)
    table = told(story)
    assert table.counts == {"RUNNING": 1, "PENDING": 1}
    assert table.used == {"cpu": 1, "gpu": 0.1}
    assert table.capacity == {"cpu": 4, "gpu": 1}
    story.start(two)
    story.end(one)
    table = told(story)
    assert table.counts == {"RUNNING": 1, "TERMINATED": 1}
    assert table.used == {"cpu": 2}


def test_used_resources_do_not_drift() -> None:
    story = Story()
    trials = [story.add({}, {"cpu": 0.1}) for _ in range(30)]
    for trial in trials:
        story.start(trial)
    assert told(story).used == {"cpu": 3.0}
    for trial in trials:
        story.end(trial)
    assert told(story).used == {}


def test_a_redone_report_is_shown_to_nobody() -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial, loss=0.5)
    story.report(trial, Ruled(trial, 2, "redone"), checkpoint=Checkpoint(trial, 2, "u"), loss=9.0)
    table = TrialTable()
    shown = [table.apply(record) for record in story.records]
    row = table.rows[trial]
    assert shown[-2:] == [row, None]
    assert (row.n_results, row.metrics["loss"]) == (1, 0.5)
    assert row.checkpoint == Checkpoint(trial, 2, "u")


def test_a_result_is_shown_also_where_it_led_to_something() -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    table = told(story)
    row = table.apply(story.report_stopped(trial, Why("asha"), loss=0.5))
    assert row is table.rows[trial]
    assert (row.n_results, row.status, row.why) == (1, "HALTING", Why("asha"))


def test_live_tables_keep_no_metrics_of_ended_trials() -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial, loss=0.5, acc=0.9)
    live = told(story, keep_metrics="live")
    assert live.rows[trial].metrics["loss"] == 0.5
    live.apply(story.end(trial))
    assert live.rows[trial].metrics == {}
    assert told(story).rows[trial].metrics["loss"] == 0.5


def test_a_restart_changes_the_config_when_it_takes_effect() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(
        trial, Ruled(trial, 1, "restart", Why("pbt"), {"lr": 0.2}), Moved(trial, "HALTING", 0), loss=1.0
    )
    table = told(story)
    assert table.rows[trial].config == {"lr": 0.1}
    demand = Resources.of({"cpu": 2})
    moved = Moved(trial, "PENDING", 1, resources=demand, config={"lr": 0.2})
    table.apply(Record(table.n + 1, Ended(1.0, trial, 0, "halted"), (moved,)))
    row = table.rows[trial]
    assert (row.config, row.resources, table.used) == ({"lr": 0.2}, demand, {})


def test_a_trial_that_recovers_and_ends_well_has_no_error() -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.recover(trial, "ValueError: x")
    table = told(story)
    assert (table.rows[trial].error, table.rows[trial].status) == ("ValueError: x", "PENDING")
    story.start(trial)
    story.end(trial)
    assert told(story).rows[trial].error == ""


def test_checkpoints_come_with_reports_and_with_saves() -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    table = told(story)
    table.apply(story.report(trial, checkpoint=Checkpoint(trial, 1, "one")))
    assert table.rows[trial].checkpoint == Checkpoint(trial, 1, "one")
    record = story.report(trial)
    table.apply(replace(record, event=Saved(0.0, trial, 0, Checkpoint(trial, 2, "two"))))
    assert table.rows[trial].checkpoint == Checkpoint(trial, 2, "two")


def test_notes_are_kept() -> None:
    story = Story()
    story.note("the metric is loss")
    assert told(story).notes == ["the metric is loss"]


def test_full_result_has_the_constant_facts_and_the_config() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial, node="10.0.0.3", pid=7)
    event = story.report(trial, loss=0.5).event
    assert isinstance(event, Reported)
    row = told(story).rows[trial]
    assert constant_facts(row) == {
        "trial_id": trial,
        "experiment_tag": "0",
        "pid": 7,
        "hostname": "host",
        "node_ip": "10.0.0.3",
    }
    result = full_result(row, event.metrics)
    assert result["config"] == {"lr": 0.1}
    assert result["timesteps_total"] is None
    assert (result["loss"], result["training_iteration"], result["pid"]) == (0.5, 1, 7)
    assert full_result(row, {"timesteps_total": 5})["timesteps_total"] == 5
