"""Any experiment of another tuner becomes a journal that the controller makes again, in the order of times."""

from __future__ import annotations

import json
import math
import random

import pytest

from overtone import tune
from overtone.importers.foreign import ForeignExperiment, ForeignResult, ForeignTrial
from overtone.importers.recorder import record_experiment
from overtone.journal.writer import JournalWriter

STATUSES = {
    "done": "TERMINATED", "stopped": "TERMINATED", "failed": "ERROR", "running": "RUNNING", "waiting": "PENDING",
}  # fmt: skip


def random_trial(rng, number):
    began = rng.choice([None, 1000.0 + rng.uniform(0, 50), 1000.0 + number])
    values = [rng.choice([rng.random(), math.nan, math.inf, 3]) for _ in range(rng.randrange(4))]
    results = [
        ForeignResult(
            {"loss": value} if rng.random() < 0.9 else {"other": 1},
            rng.choice([0, 0, rng.randrange(1, 6)]),
            rng.choice([None, rng.uniform(0, 9)]),
        )
        for value in values
    ]
    state = rng.choice([*STATUSES, "done", "done"])
    ended = None if began is None or rng.random() < 0.3 else began + rng.uniform(-1, 20)
    name = rng.choice(["", "", f"t{number}", "t0", "../x", "é"])
    return ForeignTrial(
        {"x": rng.random()}, state, results, began, ended, name, error="no" * rng.randrange(2)
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_random_experiment(tmp_path, seed):
    rng = random.Random(seed)
    trials = [random_trial(rng, number) for number in range(rng.randrange(12))]
    metric = rng.choice([(), ("loss",), ("loss", "other")])
    started = rng.choice([None, 990.0, 1010.0])
    told = ForeignExperiment(
        "Other", "there", "it", iter(trials), metric=metric, mode=["min"] * len(metric), started=started
    )
    folder = tmp_path / "it"
    folder.mkdir()
    counts = record_experiment(told, folder, folder)
    verified = tune.verify(folder)
    assert verified.is_same, [*map(str, verified.decisions)]
    found = tune.ExperimentAnalysis(folder).trials
    ordered = [one for one in trials if one.state != "waiting"] + [
        one for one in trials if one.state == "waiting"
    ]
    assert [one.status for one in found] == [STATUSES[one.state] for one in ordered]
    assert [one.config for one in found] == [one.config for one in ordered]
    assert len({one.trial_id for one in found}) == len(trials) == counts.n_trials
    n_results = sum(len(one.results) for one in trials if one.state != "waiting")
    assert sum(one.num_results for one in found) == counts.n_results == n_results - counts.n_left_out
    lines = (folder / "journal.jsonl").read_text().splitlines()
    times = [one["time"] for one in map(json.loads, lines) if "time" in one]
    assert times == sorted(times)
    is_over = not any(one.state in ("running", "waiting") for one in trials)
    assert ('"e":"end"' in lines[-1]) == is_over


def test_trials_are_read_one_by_one(tmp_path, monkeypatch):
    """When a trial is read, those that ended before it are written."""
    written = []
    ordinary = JournalWriter.append
    monkeypatch.setattr("overtone.importers.recorder._BATCH", 1)
    monkeypatch.setattr(JournalWriter, "append", lambda self, new: (written.extend(new), ordinary(self, new)))

    def trials():
        for number in range(20):
            ended = [one for one in written if type(one.event).__name__ == "Ended"]
            assert len(ended) >= number - 2
            begin = 1000.0 + number
            yield ForeignTrial({"x": 1}, "done", [ForeignResult({"loss": 1.0})], begin, begin + 1.5)

    folder = tmp_path / "it"
    folder.mkdir()
    record_experiment(ForeignExperiment("Other", "there", "it", trials(), started=1000.0), folder, folder)
