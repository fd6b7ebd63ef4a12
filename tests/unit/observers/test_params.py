from __future__ import annotations

import json
import math

from overtone.observers.files.params import Params
from overtone.observers.files.trial_files import TrialFiles
from overtone.testing.scripted_records import Story


def test_the_config_is_written_for_people(tmp_path) -> None:
    story = Story()
    trial, waiting = story.add({"lr": 0.1, "net": {"w": [1, 2]}, "x": math.nan, "f": print}), story.add({})
    story.start(trial)
    observer = Params(TrialFiles(tmp_path))
    for record in story.records:
        observer.on_record(record)
    observer.close()
    text = (tmp_path / trial / "params.json").read_text()
    assert text.startswith('{\n  "lr": 0.1,\n  "net": {"w": [1, 2]},\n')
    assert json.loads(text)["f"] == {"__repr__": repr(print)}
    assert not (tmp_path / waiting).exists()


def test_an_empty_config(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    observer = Params(TrialFiles(tmp_path))
    for record in story.records:
        observer.on_record(record)
    observer.close()
    assert json.loads((tmp_path / trial / "params.json").read_text()) == {}
