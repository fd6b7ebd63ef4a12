from __future__ import annotations

import json
import math
from functools import partial

from overtone.core.messages import Ended, Record
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.testing.observer_conformance import WithTable
from overtone.testing.scripted_records import Story


def observe(folder, records) -> None:
    observer = WithTable(partial(TextFiles, TrialFiles(folder)))
    for record in records:
        observer.on_record(record)
    observer.close()


def test_the_config_is_written_for_people(tmp_path) -> None:
    story = Story()
    trial, waiting = story.add({"lr": 0.1, "net": {"w": [1, 2]}, "x": math.nan, "f": print}), story.add({})
    story.start(trial)
    observe(tmp_path, story.records)
    text = (tmp_path / trial / "params.json").read_text()
    assert text.startswith('{\n  "lr": 0.1,\n  "net": {"w": [1, 2]},\n')
    assert json.loads(text)["f"] == {"__repr__": repr(print)}
    assert not (tmp_path / waiting).exists()


def test_an_empty_config(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    observe(tmp_path, story.records)
    assert json.loads((tmp_path / trial / "params.json").read_text()) == {}


def failing(*ends: Ended) -> list[Record]:
    story = Story()
    for _ in range(2):
        story.add({})
    story.records += [Record(len(story.records) + n, end) for n, end in enumerate(ends, 1)]
    return story.records


def test_every_failure_is_kept_whole(tmp_path) -> None:
    traceback = "Traceback (most recent call last):\n  ...\nValueError: ü\n"
    one, other = "358bb_00000", "358bb_00001"
    records = failing(
        Ended(1.0, one, 0, "raised", "ValueError: ü", traceback),
        Ended(2.0, one, 1, "killed", "killed by SIGKILL"),
        Ended(3.0, one, 2, "returned"),
        Ended(3.0, other, 0, "halted", "late"),
    )
    observe(tmp_path, records)
    assert (tmp_path / one / "error.txt").read_text() == f"{traceback}killed by SIGKILL\n"
    assert not (tmp_path / other).exists()


def test_it_is_there_at_once_where_that_is_asked_for(tmp_path) -> None:
    observer = WithTable(partial(TextFiles, TrialFiles(tmp_path, is_prompt=True)))
    for record in failing(Ended(2.0, "358bb_00000", 1, "killed", "killed by SIGKILL")):
        observer.on_record(record)
    assert (tmp_path / "358bb_00000" / "error.txt").read_text() == "killed by SIGKILL\n"
