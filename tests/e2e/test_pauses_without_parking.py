"""A scheduler may have paused trials keep no process: they go on from their last checkpoint."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.decision import CONTINUE, Pause
from overtone.core.protocols import TrialScheduler
from overtone.core.types import Why


class PausesOnce(TrialScheduler):
    pauses, parks = True, False

    def on_start(self, view):
        self.has_paused = False

    def on_result(self, trial, result):
        if trial.index or result.t < 6 or self.has_paused:
            return CONTINUE
        self.has_paused = True
        return Pause(Why("once", result.t))


def train(config):
    first, saved = 1, tune.get_checkpoint()
    if saved is not None:
        with saved.as_directory() as folder:
            first = json.loads(Path(folder, "t.json").read_text()) + 1
    with open(config["log"], "a") as log:
        log.write(f"{os.getpid()} {first}\n")
    for t in range(first, 11):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "t.json").write_text(json.dumps(t))
            checkpoint = tune.Checkpoint.from_directory(folder) if t == config["saves_at"] else None
            tune.report({"score": t}, checkpoint=checkpoint)


@pytest.mark.parametrize(("saves_at", "goes_on_at"), [(4, 5), (6, 7), (None, 1)])
def test_a_paused_trial_keeps_no_process_and_redoes_what_it_did_not_save(tmp_path, saves_at, goes_on_at):
    analysis = tune.run(
        train, config={"log": str(tmp_path / "log"), "saves_at": saves_at}, num_samples=1, metric="score", mode="max",
        scheduler=PausesOnce(), storage_path=tmp_path, name="pauses", verbose=0, engine="local",
    )  # fmt: skip
    begun = [tuple(map(int, line.split())) for line in (tmp_path / "log").read_text().splitlines()]
    assert [first for _, first in begun] == [1, goes_on_at]
    assert begun[0][0] != begun[1][0], "the first process waited"
    (frame,) = analysis.trial_dataframes.values()
    assert frame["score"].tolist() == list(range(1, 11)), "each result counts once"
