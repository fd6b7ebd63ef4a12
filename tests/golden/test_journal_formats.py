"""A journal of each format that was ever released opens, and can be gone on with."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from overtone.analysis import ExperimentAnalysis
from overtone.core.messages import Record, Tick
from overtone.experiment import Experiment
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.header import driver_facts
from overtone.journal.reader import read
from overtone.journal.writer import JournalWriter
from overtone.observers.projections import rebuild
from overtone.run.resume.recorded_experiment import recorded_experiment

HERE = Path(__file__).parent
FORMATS = {number: HERE / f"journal_format_{number}.jsonl" for number in (1, 2)}
ENDED = {  # trial: status, results, failures, training_iteration of what it kept
    "ecf97_00000": ("TERMINATED", 5, 0, 5),
    "ecf97_00001": ("TERMINATED", 2, 0, 2),
    "ecf97_00002": ("TERMINATED", 1, 0, 1),
    "ecf97_00003": ("TERMINATED", 2, 0, 2),
    "ecf97_00004": ("TERMINATED", 1, 0, 1),
    "ecf97_00005": ("ERROR", 2, 2, 2),
}


@pytest.fixture(params=FORMATS)
def journal(request, tmp_path) -> Path:
    return Path(shutil.copy(FORMATS[request.param], tmp_path / "journal.jsonl"))


def test_there_is_one_of_each_format() -> None:
    assert set(FORMATS) == set(range(1, FORMAT + 1))


def test_it_is_analysed(journal) -> None:
    analysis = ExperimentAnalysis(journal.parent)
    found = {
        one.trial_id: (one.status, one.num_results, one.num_failures, one.references()[-1].t)
        for one in analysis.trials
    }
    assert found == ENDED
    assert analysis.get_best_config("loss", "min") == {"lr": 0.1, "act": "plain", "kind": (1, 2)}
    nan = analysis.trials[1]
    assert math.isnan(nan.last_result["loss"])
    assert nan.last_result["nested"] == {"text": 'a "b"\n\u20ac'}
    assert "ValueError: no" in analysis.trials[5].traceback


def test_its_records_are_written_as_they_were(journal) -> None:
    """What a message has grown by since has a default, and defaults are left out."""
    lines = journal.read_bytes().splitlines(keepends=True)[1:]
    codec = Codec()
    assert [codec.encode(record) for record in read(journal, codec=codec)] == lines


def test_it_is_gone_on_with(journal) -> None:
    records = list(read(journal))
    writer = JournalWriter.open_for_append(journal, driver_facts())
    more = Record(records[-1].n + 2, Tick(9.0))
    writer.append([more])
    writer.close()
    assert list(read(journal))[-1] == more


def test_its_files_are_written_anew(journal) -> None:
    rebuild(journal.parent)
    lines = {trial: (journal.parent / trial / "result.json").read_text().count("\n") for trial in ENDED}
    assert lines == {trial: results for trial, (_, results, _, _) in ENDED.items()}


def train(config: dict) -> None:
    """Stands for the function whose trials are recorded."""


def test_it_is_made_again_with_the_defaults_of_what_was_not_recorded_then(journal) -> None:
    keys = json.loads(journal.read_text().splitlines()[0])["parts"]["space"]
    made = recorded_experiment(journal.parent, train, {"space": dict.fromkeys(keys, 1)})
    default = Experiment(train)
    assert (made.max_failures, made.num_samples, made.seed) == (1, 2, 7)
    assert (made.captures_output, made.storage_patience_s) == (True, default.storage_patience_s)
