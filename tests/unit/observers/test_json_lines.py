from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial

from overtone.core.messages import Record, Ruled
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.testing.observer_conformance import WithTable, eventful, lines_of
from overtone.testing.scripted_records import Story


def observe(folder, records) -> None:
    observer = WithTable(partial(TextFiles, TrialFiles(folder)))
    for record in records:
        observer.on_record(record)
    observer.close()


def with_raw(record: Record, raw: str) -> Record:
    return replace(record, event=replace(record.event, raw=raw))


def test_a_line_is_the_full_result(tmp_path) -> None:
    story = Story()
    trial = story.add({"lr": 0.1, "f": print})
    story.start(trial, pid=7)
    story.report(trial, loss=0.5)
    observe(tmp_path, story.records)
    assert lines_of(tmp_path / trial / "result.json") == [
        {
            "loss": 0.5,
            "training_iteration": 1,
            "time_total_s": 0.0,
            "done": False,
            "timesteps_total": None,
            "trial_id": trial,
            "experiment_tag": "0",
            "pid": 7,
            "hostname": "host",
            "node_ip": "127.0.0.1",
            "config": {"lr": 0.1, "f": {"__repr__": repr(print)}},
        }
    ]


def test_the_worker_s_text_is_taken_as_it_is(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    records = [*story.records, with_raw(story.report(trial), '{"loss": 5e-1,"timesteps_total":3}')]
    observe(tmp_path, records)
    text = (tmp_path / trial / "result.json").read_text()
    assert text.startswith('{"loss": 5e-1,"timesteps_total":3,"trial_id":')
    assert json.loads(text)["timesteps_total"] == 3


def test_nan_is_a_literal(tmp_path) -> None:
    story = Story()
    trial = story.add({"x": math.inf})
    story.start(trial)
    record = story.report(trial, loss=math.nan)
    observe(tmp_path, [*story.records[:-1], with_raw(record, '{"loss":{"__float__":"nan"}}')])
    text = (tmp_path / trial / "result.json").read_text()
    assert '"loss":NaN' in text
    assert json.loads(text)["config"] == {"x": math.inf}


def test_redone_results_appear_once_and_nothing_else_is_lost(tmp_path) -> None:
    observe(tmp_path, eventful())
    found = lines_of(tmp_path / "358bb_00000" / "result.json")
    assert [one["training_iteration"] for one in found] == [1, 2, 3, 4, 6]
    assert found[0]["nested"] == {"acc": 0, "text": 'a, "b"\n'}
    assert found[3]["new"] == math.inf


def test_another_attempt_has_other_facts(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial, pid=7)
    story.report(trial)
    story.report(trial, Ruled(trial, 2, "save"))
    story.recover(trial, "oops")
    story.start(trial, pid=8)
    story.report(trial)
    observe(tmp_path, story.records)
    assert [one["pid"] for one in lines_of(tmp_path / trial / "result.json")] == [7, 7, 8]
