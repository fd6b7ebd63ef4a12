from __future__ import annotations

import json

import pytest

from overtone.core.messages import Ruled
from overtone.core.types import Why
from overtone.errors import StorageError
from overtone.reading.journal_index import JournalIndex


def journal(told):
    return told.write() / "journal.jsonl"


def indexed(told) -> JournalIndex:
    history = JournalIndex(journal(told))
    history.refresh()
    return history


def losses(history, trial):
    return [result["loss"] for result in history.results(trial)]


def test_each_trials_results_are_found_among_all_others(told):
    one, other = told.add({"lr": 1}), told.add({"lr": 2})
    told.start(one)
    told.start(other)
    for step in range(4):
        told.report(one, loss=step)
        told.report(other, loss=-step)
    history = indexed(told)
    assert losses(history, one) == [0, 1, 2, 3]
    assert losses(history, other) == [0, -1, -2, -3]
    assert [result["loss"] for result in history.results(other, newest_first=True)] == [-3, -2, -1, 0]


def test_a_result_has_the_constant_facts_and_the_config(told):
    trial = told.add({"lr": 1})
    told.start(trial, node="10.0.0.7", pid=77)
    told.report(trial, loss=0.5)
    assert next(indexed(told).results(trial)) == {
        "loss": 0.5,
        "training_iteration": 1,
        "time_total_s": 0.0,
        "timesteps_total": None,
        "done": False,
        "trial_id": trial,
        "experiment_tag": "0",
        "pid": 77,
        "hostname": "host",
        "node_ip": "10.0.0.7",
        "config": {"lr": 1},
    }


def test_results_keep_the_process_that_reported_them(told):
    trial = told.add({})
    told.start(trial, pid=1)
    told.report(trial, loss=1)
    told.recover(trial, "out of luck")
    told.start(trial, pid=2)
    told.report(trial, loss=2)
    assert [result["pid"] for result in indexed(told).results(trial)] == [1, 2]


def test_results_keep_the_config_that_they_were_made_with(told):
    trial, source = told.add({"lr": 1}), told.add({"lr": 2})
    told.start(trial)
    told.report(trial, loss=1)
    told.report(trial, loss=2)
    told.restart(trial, {"lr": 3}, source, t=1)
    told.start(trial)
    told.report(trial, loss=3)
    history = indexed(told)
    assert [result["config"]["lr"] for result in history.results(trial)] == [1, 1, 3]
    assert history.table.rows[trial].config == {"lr": 3}


def test_the_last_result_keeps_its_config_while_a_restart_has_not_reported(told):
    trial = told.add({"lr": 1})
    told.start(trial)
    told.report(trial, loss=1)
    told.restart(trial, {"lr": 3}, trial, t=1)
    assert indexed(told).last_result(trial)["config"] == {"lr": 1}


def test_redone_results_are_left_out(told):
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=1)
    told.report(trial, Ruled(trial, 1, "redone"), loss=1)
    told.report(trial, loss=2)
    assert losses(indexed(told), trial) == [1, 2]


def test_the_last_result_of_an_ended_trial_is_done(told):
    over, running = told.run({}, {"loss": 1}, {"loss": 2}), told.add({})
    told.start(running)
    told.report(running, loss=3)
    history = indexed(told)
    assert [result["done"] for result in history.results(over)] == [False, True]
    assert history.last_result(over)["done"] is True
    assert history.last_result(running)["done"] is False


def test_a_trial_without_results_has_an_empty_last_one(told):
    trial = told.add({})
    assert indexed(told).last_result(trial) == {}


def test_nan_and_infinity_come_back(told):
    trial = told.run({}, {"loss": float("nan")}, {"loss": float("-inf")})
    first, second = losses(indexed(told), trial)
    assert first != first
    assert second == float("-inf")


def test_refresh_reads_only_what_is_new(told):
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=1)
    history = indexed(told)
    assert history.refresh() == 0
    told.report(trial, loss=2)
    told.end(trial)
    told.write()
    assert history.refresh() == 2
    assert losses(history, trial) == [1, 2]


def test_a_torn_last_line_is_left_for_later(told, tmp_path):
    trial = told.run({}, {"loss": 1}, {"loss": 2})
    whole = journal(told).read_bytes()
    torn = tmp_path / "journal.jsonl"
    torn.write_bytes(whole[:-7])
    history = JournalIndex(torn)
    history.refresh()
    assert history.table.rows[trial].status == "RUNNING"
    torn.write_bytes(whole)
    assert history.refresh() == 1
    assert history.table.rows[trial].status == "TERMINATED"


def test_damage_further_up_is_an_error_that_names_the_line(told):
    told.run({}, {"loss": 1}, {"loss": 2})
    path = journal(told)
    lines = path.read_bytes().split(b"\n")
    lines[4] = lines[4].replace(b'"loss":1', b'"loss":7')
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(StorageError, match="line 5"):
        JournalIndex(path).refresh()


def test_a_journal_that_was_cut_is_read_anew(told, tmp_path):
    trial = told.run({}, {"loss": 1}, {"loss": 2})
    path = journal(told)
    whole = path.read_bytes()
    history = JournalIndex(path)
    history.refresh()
    copy = b"\n".join(whole.split(b"\n")[:5]) + b"\n"
    path.write_bytes(copy)
    history.refresh()
    assert losses(history, trial) == [1]


def test_a_file_that_changed_behind_its_back_is_noticed(told):
    trial = told.run({}, {"loss": 1})
    path = journal(told)
    history = JournalIndex(path)
    history.refresh()
    path.write_bytes(b" " + path.read_bytes())
    with pytest.raises(StorageError, match=r"refresh\(\)"):
        losses(history, trial)


def test_results_stay_on_the_disk(told):
    trial = told.run({}, *({"loss": step} for step in range(50)))
    history = indexed(told)
    assert history.past(trial).offsets.itemsize * 50 == 400
    line = journal(told).read_bytes()[history.past(trial).offsets[7] :].split(b"\n")[0]
    assert json.loads(line)["metrics"]["loss"] == 7


def test_discarded_checkpoints_are_forgotten_and_saved_again_is_newest(told):
    trial = told.add({})
    told.start(trial)
    told.report(trial, loss=1, checkpoint=told.at(trial, 1))
    told.report(trial, loss=2)
    second, third = told.save(trial, 2), told.save(trial, 3)
    told.discard(told.at(trial, 1))
    told.save(trial, 2)
    assert list(indexed(told).past(trial).checkpoints.values()) == [third, second]


def test_failures_are_counted_and_the_last_traceback_kept(told):
    trial = told.add({})
    told.start(trial)
    told.recover(trial, "once")
    told.start(trial)
    told.fail(trial, "twice", "Traceback: twice")
    past = indexed(told).past(trial)
    assert (past.failures, past.traceback) == (2, "Traceback: twice")


def test_the_table_knows_the_newest_result_however_it_was_recorded(told):
    plain, ruled = told.add({}), told.add({})
    for trial in (plain, ruled):
        told.start(trial)
        told.time += 1
        told.report(trial, loss=1)
    told.time = 9.0
    told.report_stopped(ruled, Why("asha"), loss=2)
    told.time = 9.5
    told.report(plain, loss=3)
    history = indexed(told)
    rows = history.table.rows
    assert [(row.metrics["loss"], row.t, row.n_results) for row in rows.values()] == [(3, 2, 2), (2, 2, 2)]
    assert (history.table.time, history.table.n) == (9.5, len(told.records) + 1)
