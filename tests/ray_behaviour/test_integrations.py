"""Callbacks for libraries that train; Lightning and Keras have stand-ins in their places."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from subject import covers, part

STAND_INS = str(Path(__file__).parent / "stand_ins")
STAND_INS_OF_KERAS = str(Path(__file__).parent / "stand_ins_of_keras")


def by_lightning(config):
    sys.path.insert(0, STAND_INS)
    numpy = __import__("numpy")
    trainer = __import__("pytorch_lightning").Trainer({"loss": numpy.float64(0.5), "acc": numpy.float64(0.9)})
    made = getattr(part("tune.integration.pytorch_lightning"), config["name"])(**config["arguments"])
    made.on_validation_end(trainer, None)
    made.on_train_end(trainer, None)


def by_keras(config):
    sys.path.insert(0, STAND_INS_OF_KERAS)
    model = __import__("keras").Model()
    made = getattr(part(config["module"]), config["name"])(**config["arguments"])
    model.fit(epochs=2, callbacks=[made])


POINTS = [[0.0], [1.0], [2.0], [3.0]] * 10
LABELS = [0, 0, 1, 1] * 10


def by_xgboost(config):
    xgboost = __import__("xgboost")
    numpy = __import__("numpy")
    data = xgboost.DMatrix(numpy.array(POINTS), label=numpy.array(LABELS))
    made = getattr(part("tune.integration.xgboost"), config["name"])(**config["arguments"])
    xgboost.train(
        {"objective": "binary:logistic", "eval_metric": ["logloss", "error"], "nthread": 1, "eta": 0.5},
        data,
        num_boost_round=5,
        evals=[(data, "eval")],
        verbose_eval=False,
        callbacks=[made],
    )


def by_lightgbm(config):
    lightgbm = __import__("lightgbm")
    numpy = __import__("numpy")
    data = lightgbm.Dataset(numpy.array(POINTS), label=numpy.array(LABELS))
    made = getattr(part("tune.integration.lightgbm"), config["name"])(**config["arguments"])
    settings = {"objective": "binary", "metric": ["binary_logloss", "binary_error"], "min_data_in_leaf": 1}
    lightgbm.train(
        {**settings, "num_threads": 1, "verbosity": -1},
        data,
        num_boost_round=5,
        valid_sets=[data],
        valid_names=["eval"],
        callbacks=[made],
    )


@pytest.fixture
def reports(search):
    """Runs a trial, and returns its reports, and the files of its checkpoints."""

    def run(trainable, name="TuneReportCheckpointCallback", module=None, **arguments):
        analysis = search(trainable, config={"name": name, "module": module, "arguments": arguments})
        (trial,) = analysis.trials
        rows = analysis.trial_dataframes[trial.trial_id].to_dict("records")
        folders = sorted(path for path in Path(trial.path).glob("checkpoint_*") if path.is_dir())
        return rows, [[name for name in sorted(os.listdir(one)) if name[0] != "."] for one in folders]

    return run


@covers(
    "tune.integration.pytorch_lightning.TuneReportCheckpointCallback: metrics",
    "tune.integration.pytorch_lightning",
)
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


@covers("tune.integration.pytorch_lightning.TuneReportCheckpointCallback: filename save_checkpoints")
def test_lightning_saves_where_asked(reports):
    assert reports(by_lightning, metrics="loss", filename="mine")[1] == [["mine"]]
    assert reports(by_lightning, metrics="loss", save_checkpoints=False)[1] == []


@covers("tune.integration.pytorch_lightning.TuneCallback: on")
@pytest.mark.parametrize(("on", "seen"), [("train_end", [2]), (["validation_end", "train_end"], [1, 2])])
def test_a_callback_of_lightning_is_derived(search, on, seen):
    def trains(config):
        sys.path.insert(0, STAND_INS)
        trainer = __import__("pytorch_lightning").Trainer({"loss": 1})
        module = part("tune.integration.pytorch_lightning")

        class Tells(module.TuneCallback):
            def _handle(self, trainer, pl_module):
                part("tune").report({"step": trainer.callback_metrics["loss"]})

        made = Tells(on=on)
        made.on_validation_end(trainer, None)
        trainer.callback_metrics = {"loss": 2}
        made.on_train_end(trainer, None)
        try:
            Tells(on="no such hook")
        except Exception:
            return
        raise AssertionError("a hook that Lightning lacks")

    analysis = search(trains)
    (trial,) = analysis.trials
    assert list(analysis.trial_dataframes[trial.trial_id]["step"]) == seen


@pytest.fixture
def stand_in_of_keras(monkeypatch):
    """Ray unpickles checkpoints of Keras in the driver, too."""
    monkeypatch.syspath_prepend(STAND_INS_OF_KERAS)
    for name in [one for one in sys.modules if one.split(".")[0] in ("keras", "tensorflow")]:
        monkeypatch.delitem(sys.modules, name)


KERAS = [
    ("air.integrations.keras", "ReportCheckpointCallback"),
    ("tune.integration.keras", "TuneReportCheckpointCallback"),
]


@covers(
    "air.integrations.keras.ReportCheckpointCallback: metrics",
    "tune.integration.keras.TuneReportCheckpointCallback",
)
@pytest.mark.parametrize(("module", "name"), KERAS)
@pytest.mark.usefixtures("stand_in_of_keras")
def test_keras_reports_metrics(reports, module, name):
    rows, saved = reports(by_keras, name, module, metrics={"mine": "loss"})
    assert [row["mine"] for row in rows] == [1, 1 / 2]
    assert "accuracy" not in rows[0]
    assert len(saved) == 2
    rows, _ = reports(by_keras, name, module)
    assert [row["accuracy"] for row in rows] == [0, 0.1]


@covers("air.integrations.keras.ReportCheckpointCallback: checkpoint_on report_metrics_on")
@pytest.mark.parametrize(("module", "name"), KERAS)
@pytest.mark.usefixtures("stand_in_of_keras")
def test_keras_reports_and_saves_at_hooks(reports, module, name):
    rows, saved = reports(by_keras, name, module, report_metrics_on="train_end", checkpoint_on=[])
    assert ([row["loss"] for row in rows], saved) == ([1 / 2], [])
    rows, saved = reports(by_keras, name, module, report_metrics_on="epoch_end", checkpoint_on="train_end")
    assert (len(rows), saved) == (3, [["model.keras"]])


@covers("tune.integration.xgboost.TuneReportCheckpointCallback: metrics results_postprocessing_fn")
def test_xgboost_reports_metrics(reports):
    pytest.importorskip("xgboost")
    rows, _ = reports(by_xgboost, metrics={"mine": "eval-logloss"}, frequency=0, checkpoint_at_end=False)
    losses = [row["mine"] for row in rows]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert not {"eval-error", "eval-logloss"} & rows[0].keys()
    rows, _ = reports(
        by_xgboost, results_postprocessing_fn=lambda logs: {"twice": logs["eval-logloss"] * 2}, frequency=0,
        checkpoint_at_end=False,
    )  # fmt: skip
    assert [row["twice"] for row in rows] == pytest.approx([2 * loss for loss in losses])


@covers("tune.integration.xgboost.TuneReportCheckpointCallback: frequency filename checkpoint_at_end")
def test_xgboost_saves_every_so_many_rounds(reports):
    pytest.importorskip("xgboost")
    assert (
        reports(by_xgboost, frequency=2, filename="mine.json", checkpoint_at_end=False)[1]
        == [["mine.json"]] * 2
    )
    assert reports(by_xgboost, frequency=0, checkpoint_at_end=True)[1] == [["model.ubj"]]
    assert reports(by_xgboost, frequency=0, checkpoint_at_end=False)[1] == []


@covers("tune.integration.lightgbm.TuneReportCheckpointCallback")
def test_lightgbm_reports_and_saves(reports):
    pytest.importorskip("lightgbm")
    rows, saved = reports(
        by_lightgbm, metrics={"mine": "eval-binary_logloss"}, frequency=2, filename="mine.txt"
    )
    losses = [row["mine"] for row in rows]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert saved == [["mine.txt"]] * 3
    rows, saved = reports(
        by_lightgbm, results_postprocessing_fn=lambda logs: {"twice": logs["eval-binary_logloss"] * 2}, frequency=0,
        checkpoint_at_end=False,
    )  # fmt: skip
    assert [row["twice"] for row in rows] == pytest.approx([2 * loss for loss in losses])
    assert saved == []


@covers("tune.integration.xgboost", "tune.integration.lightgbm", "tune.integration.keras", "air.integrations.keras",
        "tune.integration.xgboost.TuneReportCheckpointCallback", "tune.integration.xgboost.TuneReportCallback",
        "tune.integration.lightgbm.TuneReportCallback", "tune.integration.keras.TuneReportCallback")  # fmt: skip
@pytest.mark.parametrize(
    "module", ["tune.integration.xgboost", "tune.integration.lightgbm", "tune.integration.keras", "air.integrations.keras"]
)  # fmt: skip
def test_old_imports_of_callbacks_go_on(module, request):
    """Scripts import the older name beside the newer one."""
    if module.endswith("keras"):
        request.getfixturevalue("stand_in_of_keras")
    else:
        pytest.importorskip(module.rpartition(".")[2])
    found = part(module)
    names = ["TuneReportCallback", "TuneReportCheckpointCallback"]
    for name in names if module.startswith("tune") else ["ReportCheckpointCallback"]:
        assert isinstance(getattr(found, name), type)
