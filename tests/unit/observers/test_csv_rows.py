from __future__ import annotations

import csv
import os
from dataclasses import replace

from overtone.core.messages import Moved, Ruled
from overtone.core.table import TrialTable
from overtone.core.types import Why
from overtone.journal.text import dumps
from overtone.observers.csv_rows import CsvRows
from overtone.observers.trial_files import TrialFiles
from overtone.testing.observer_conformance import eventful
from overtone.testing.story import Story


def rows_of(folder, trial: str) -> list[dict[str, str]]:
    with open(folder / trial / "progress.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


def observe(folder, records, flushes: bool = False) -> None:
    files = TrialFiles(folder)
    observer = CsvRows(files)
    for record in records:
        observer.on_record(record)
        if flushes:
            files.close()
    observer.close()


def test_a_row_is_the_full_result_flattened(tmp_path) -> None:
    story = Story()
    trial = story.add({"lr": 0.1, "net": {"width": 3}})
    story.start(trial, pid=7)
    story.report(trial, loss=0.5, more={"acc": 0.25})
    observe(tmp_path, story.records)
    assert rows_of(tmp_path, trial) == [
        {
            "loss": "0.5",
            "more/acc": "0.25",
            "training_iteration": "1",
            "time_total_s": "0.0",
            "done": "False",
            "timesteps_total": "",
            "trial_id": trial,
            "experiment_tag": "0",
            "pid": "7",
            "hostname": "host",
            "node_ip": "127.0.0.1",
            "config/lr": "0.1",
            "config/net/width": "3",
        }
    ]


def test_raw_tells_whether_there_is_anything_nested(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    for metrics in ({"loss": 0.5}, {"loss": {"a": 1}}, {"loss": "{"}):
        record = story.report(trial, **metrics)
        story.records[-1] = replace(record, event=replace(record.event, raw=dumps(record.event.metrics)))
    observe(tmp_path, story.records)
    assert [(row["loss"], row["loss/a"]) for row in rows_of(tmp_path, trial)] == [
        ("0.5", ""),
        ("", "1"),
        ("{", ""),
    ]


def test_columns_may_come_later_and_nothing_is_dropped(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial, a=1, text='x, "y"\nz')
    story.report(trial, b=2)
    story.report(trial, a=3, c=4)
    for flushes in (False, True):
        folder = tmp_path / str(flushes)
        folder.mkdir()
        observe(folder, story.records, flushes)
        assert [(row["a"], row["b"], row["c"]) for row in rows_of(folder, trial)] == [
            ("1", "", ""),
            ("", "2", ""),
            ("3", "", "4"),
        ]
        assert [row["text"] for row in rows_of(folder, trial)] == ['x, "y"\nz', "", ""]
        assert os.listdir(folder / trial) == ["progress.csv"]


def test_a_restart_may_bring_other_parameters(tmp_path) -> None:
    story = Story()
    trial = story.add({"lr": 0.1, "kind": "sgd"})
    story.start(trial)
    story.report(
        trial, Ruled(trial, 1, "restart", Why("pbt"), {"lr": 0.2, "beta": 0.9}), Moved(trial, "HALTING", 0)
    )
    record = story.recover(trial, "")
    story.records[-1] = replace(record, event=replace(record.event, cause="halted"))
    story.start(trial, pid=8)
    story.report(trial)
    observe(tmp_path, story.records, flushes=True)
    rows = rows_of(tmp_path, trial)
    assert [(row["config/lr"], row["config/kind"], row["config/beta"]) for row in rows] == [
        ("0.1", "sgd", ""),
        ("0.2", "", "0.9"),
    ]
    assert rows[1]["pid"] == "8"


def test_a_trial_that_goes_on_after_its_end_keeps_its_rows(tmp_path) -> None:
    """As a resumed experiment does with trials that had failed."""
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial, a=1)
    story.end(trial, error="oops")
    story.start(trial)
    story.report(trial, a=2, b=3)
    observe(tmp_path, story.records)
    assert [(row["a"], row["b"]) for row in rows_of(tmp_path, trial)] == [("1", ""), ("2", "3")]


def test_long_cells_survive_a_wider_file(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial, text="x" * 200_000)
    story.report(trial, new=1)
    observe(tmp_path, story.records)
    lines = (tmp_path / trial / "progress.csv").read_text().splitlines()
    assert lines[1].startswith("x" * 200_000)
    assert csv.field_size_limit() == 131072


def test_a_table_may_be_shared(tmp_path) -> None:
    table = TrialTable()
    observer = CsvRows(TrialFiles(tmp_path), table)
    for record in eventful():
        table.apply(record)
        observer.on_record(record)
    observer.close()
    assert [row["training_iteration"] for row in rows_of(tmp_path, "358bb_00000")] == [
        "1",
        "2",
        "3",
        "4",
        "6",
    ]


def test_a_cell_may_hold_line_breaks(tmp_path) -> None:
    story = Story()
    trial = story.add({"name": "c\nd"})
    story.start(trial)
    texts = ["a\nb", "a\rb", "\r\n"]
    for i, text in enumerate(texts):
        story.report(trial, **{"text": text, f"late{i}": i})
    observe(tmp_path, story.records)
    rows = rows_of(tmp_path, trial)
    assert [row["text"] for row in rows] == texts
    assert {row["config/name"] for row in rows} == {"c\nd"}
