from __future__ import annotations

import csv
import os
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest

from overtone.core.messages import Moved, Ruled
from overtone.core.types import Why
from overtone.errors import StorageError
from overtone.journal.text import dumps
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.testing.observer_conformance import WithTable
from overtone.testing.scripted_records import Story


def rows_of(folder, trial: str) -> list[dict[str, str]]:
    with open(folder / trial / "progress.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


def observe(folder, records, flushes: bool = False) -> None:
    files = TrialFiles(folder)
    observer = WithTable(partial(TextFiles, files))
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
        assert {*os.listdir(folder / trial)} == {"params.json", "progress.csv", "result.json"}


def test_a_restart_may_bring_other_parameters(tmp_path) -> None:
    story = Story()
    trial = story.add({"lr": 0.1, "kind": "sgd"})
    story.start(trial)
    story.report(
        trial, Ruled(trial, 1, "restart", Why("pbt"), {"lr": 0.2, "beta": 0.9}), Moved(trial, "HALTING", 0)
    )
    recovered = story.recover(trial, "").choices[0]
    taken = replace(recovered, config={"lr": 0.2, "beta": 0.9})
    story.records[-1] = replace(story.records[-1], choices=(taken,))
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


class Counted(TrialFiles):
    """Files that count how often one is written anew."""

    n_changes = 0

    def change(self, trial_id, name, change) -> None:
        self.n_changes += 1
        super().change(trial_id, name, change)


def widening(n: int) -> tuple[Story, str]:
    """A trial that reports a new metric with each result."""
    story = Story()
    trial = story.add({"text": 'a "quoted"\nline'})
    story.start(trial)
    for i in range(n):
        story.report(trial, **{f"m{i}": i, "note": '"\n,'})
    return story, trial


def test_a_column_with_each_result_leads_to_few_new_files(tmp_path) -> None:
    story, trial = widening(400)
    files = Counted(tmp_path)
    observer = WithTable(partial(TextFiles, files, clock=lambda: 0.0))
    for record in story.records:
        observer.on_record(record)
        observer.flush()
    observer.close()
    assert files.n_changes < 50
    rows = rows_of(tmp_path, trial)
    assert [row[f"m{i}"] for i, row in enumerate(rows)] == [str(i) for i in range(400)]
    assert {row["note"] for row in rows} == {'"\n,'}
    assert {row["config/text"] for row in rows} == {'a "quoted"\nline'}
    assert sum(cell != "" for row in rows for name, cell in row.items() if name[1:].isdigit()) == 400


def test_a_file_fits_its_header_whenever_somebody_looks(tmp_path) -> None:
    story, trial = widening(40)
    files = TrialFiles(tmp_path)
    observer = WithTable(partial(TextFiles, files, clock=lambda: 0.0))
    counts = []
    for record in story.records:
        observer.on_record(record)
        files.close()
        if (tmp_path / trial / "progress.csv").exists():
            counts.append(len(rows_of(tmp_path, trial)))
    assert counts == sorted(counts)
    assert all(rows * 8 >= (i - 1) * 7 for i, rows in enumerate(counts))
    observer.close()
    assert len(rows_of(tmp_path, trial)) == 40


def test_rows_of_a_wider_table_do_not_wait_for_long(tmp_path) -> None:
    now = 0.0
    story, trial = widening(20)
    files = TrialFiles(tmp_path)
    observer = WithTable(partial(TextFiles, files, clock=lambda: now))
    for record in story.records:
        observer.on_record(record)
    observer.close()
    observer.on_record(story.report(trial, late=1))
    observer.flush()
    files.close()
    assert len(rows_of(tmp_path, trial)) == 20
    now = 1.0
    observer.flush()
    files.close()
    assert [row["late"] for row in rows_of(tmp_path, trial)] == [""] * 20 + ["1"]


def test_a_trial_that_ends_leaves_no_row_waiting(tmp_path) -> None:
    story, trial = widening(20)
    story.report(trial, late=1)
    story.end(trial)
    files = TrialFiles(tmp_path, is_prompt=True)
    observer = WithTable(partial(TextFiles, files, clock=lambda: 0.0))
    for record in story.records:
        observer.on_record(record)
    assert len(rows_of(tmp_path, trial)) == 21
    observer.close()


def test_a_trial_that_goes_on_finds_its_late_columns(tmp_path) -> None:
    story, trial = widening(3)
    story.end(trial)
    observe(tmp_path, story.records)
    before = (tmp_path / trial / "progress.csv").read_text()
    story.start(trial, pid=8)
    story.report(trial, m2=5)
    files = Counted(tmp_path)
    observer = WithTable(partial(TextFiles, files))
    for record in story.records[:-1]:
        observer.table.apply(record)  # as a resume does
    observer.on_record(story.records[-1])
    observer.close()
    assert files.n_changes == 0
    assert (tmp_path / trial / "progress.csv").read_text().startswith(before)
    assert [row["m2"] for row in rows_of(tmp_path, trial)] == ["", "", "2", "5"]


def test_a_restart_with_other_parameters_keeps_rows_that_wait(tmp_path) -> None:
    story, trial = widening(20)
    story.report(
        trial, Ruled(trial, 21, "restart", Why("pbt"), {"lr": 0.2}), Moved(trial, "HALTING", 0), late=1
    )
    recovered = story.recover(trial, "").choices[0]
    story.records[-1] = replace(story.records[-1], choices=(replace(recovered, config={"lr": 0.2}),))
    story.start(trial, pid=8)
    story.report(trial, late=2)
    observer = WithTable(partial(TextFiles, TrialFiles(tmp_path), clock=lambda: 0.0))
    for record in story.records:
        observer.on_record(record)
    observer.close()
    rows = rows_of(tmp_path, trial)
    assert [row["late"] for row in rows] == [""] * 20 + ["1", "2"]
    assert [row["config/lr"] for row in rows] == [""] * 21 + ["0.2"]
    assert [row["m19"] for row in rows[-3:]] == ["19", "", ""]


@pytest.mark.parametrize("is_own", [False, True])
def test_a_file_that_somebody_changed_stays_as_it_is(tmp_path, is_own) -> None:
    story, trial = widening(2)
    observer = WithTable(partial(TextFiles, TrialFiles(tmp_path)))
    for record in story.records:
        observer.on_record(record)
    observer.close()
    path = tmp_path / trial / "progress.csv"
    text = "note,m0,trial_id\nmine,7,x\n" if is_own else "note,m0\nmine,7\n"
    path.write_text(text)
    observer.on_record(story.report(trial, m9=9))
    with pytest.raises(StorageError, match="cut during the run") if is_own else nullcontext():
        observer.close()
    assert path.read_text() == text
