"""Callbacks for libraries that train; modules of `stand_ins` have the libraries' places."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from subject import covers, part

STAND_INS = str(Path(__file__).parent / "stand_ins")


def by_lightning(config):
    sys.path.insert(0, STAND_INS)
    numpy = __import__("numpy")
    trainer = __import__("pytorch_lightning").Trainer({"loss": numpy.float64(0.5), "acc": numpy.float64(0.9)})
    made = getattr(part("tune.integration.pytorch_lightning"), config["name"])(**config["arguments"])
    made.on_validation_end(trainer, None)
    made.on_train_end(trainer, None)


@pytest.fixture
def reports(search):
    """Runs a trial, and returns its reports, and the files of its checkpoints."""

    def run(trainable, name="TuneReportCheckpointCallback", **arguments):
        analysis = search(trainable, config={"name": name, "arguments": arguments})
        (trial,) = analysis.trials
        rows = analysis.trial_dataframes[trial.trial_id].to_dict("records")
        folders = sorted(path for path in Path(trial.local_path).glob("checkpoint_*") if path.is_dir())
        return rows, [[name for name in sorted(os.listdir(one)) if name[0] != "."] for one in folders]

    return run


@covers("tune.integration.pytorch_lightning.TuneReportCheckpointCallback: metrics")
def test_lightning_reports_metrics_by_new_names(reports):
    (row,), _ = reports(by_lightning, metrics={"mine": "loss"})
    assert row["mine"] == 0.5
    assert "acc" not in row
    (row,), _ = reports(by_lightning, metrics=["acc"])
    assert row["acc"] == 0.9


@covers("tune.integration.pytorch_lightning.TuneReportCheckpointCallback: on")
@pytest.mark.parametrize(("on", "count"), [("train_end", 1), (["validation_end", "train_end"], 2)])
def test_lightning_reports_at_hooks(reports, on, count):
    assert len(reports(by_lightning, metrics="loss", on=on)[0]) == count


@covers("tune.integration.pytorch_lightning.TuneReportCallback: metrics on")
def test_lightning_reports_without_checkpoints(reports):
    rows, saved = reports(
        by_lightning, "TuneReportCallback", metrics="acc", on=["validation_end", "train_end"]
    )
    assert ([row["acc"] for row in rows], saved) == ([0.9, 0.9], [])
