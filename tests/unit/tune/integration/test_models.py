"""Models that callbacks saved, read back; the libraries are small stand-ins."""

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from overtone import tune
from overtone.errors import OvertoneError
from overtone.worker.session.current import activated


class FakeSession:
    """Keeps the files of the checkpoints that are reported."""

    def __init__(self, folder):
        self.reported, self._folder = [], folder

    def get_world_rank(self):
        return 0

    def report(self, metrics, *, checkpoint=None):
        kept = self._folder / str(len(self.reported)) if checkpoint else None
        if checkpoint:
            checkpoint.to_directory(kept)
        self.reported.append((metrics, kept))


class Booster:
    def __init__(self, rounds=0, model_file=None):
        self.rounds = int(Path(model_file).read_text()) if model_file else rounds

    def save_model(self, path):
        Path(path).write_text(str(self.rounds))


@pytest.fixture
def library(monkeypatch):
    """Return a function that imports an integration beside a stand-in of its library."""

    imported = []

    def library(name, **modules):
        for path, names in modules.items():
            module = ModuleType(path.replace("_", "."))
            vars(module).update(names, __path__=[])
            monkeypatch.setitem(sys.modules, module.__name__, module)
        path = f"overtone.tune.integration.{name}"
        monkeypatch.delitem(sys.modules, path, raising=False)
        imported.append(path)
        return importlib.import_module(path)

    yield library
    for path in imported:
        del sys.modules[path]


def test_the_last_model_of_xgboost_is_saved_and_read_back(library, tmp_path):
    xgboost = library(
        "xgboost", xgboost={"Booster": Booster}, xgboost_callback={"TrainingCallback": object},
    )  # fmt: skip
    session = FakeSession(tmp_path)
    with activated(session):
        callback = xgboost.TuneReportCheckpointCallback(filename="m", frequency=2)
        for epoch in range(3):
            assert (
                callback.after_iteration(Booster(epoch), epoch, {"eval": {"loss": [1.0 - epoch / 10]}})
                is False
            )
        model = Booster(2)
        assert callback.after_training(model) is model
        callback.after_training(model)
    losses = [metrics["eval-loss"] for metrics, _ in session.reported]
    assert losses == [1.0, 0.9, 0.8, 0.8]
    assert [kept is not None for _, kept in session.reported] == [False, True, False, True]
    kept = tune.Checkpoint.from_directory(session.reported[-1][1])
    assert xgboost.TuneReportCheckpointCallback.get_model(kept, "m").rounds == 2


def test_no_model_of_xgboost_is_saved_twice_or_unasked(library, tmp_path):
    xgboost = library(
        "xgboost", xgboost={"Booster": Booster}, xgboost_callback={"TrainingCallback": object},
    )  # fmt: skip
    session = FakeSession(tmp_path)
    with activated(session):
        for callback in (
            xgboost.TuneReportCheckpointCallback(frequency=1),
            xgboost.TuneReportCheckpointCallback(frequency=0, checkpoint_at_end=False),
            xgboost.TuneReportCallback(),
        ):
            callback.after_iteration(Booster(1), 0, {"eval": {"loss": [1.0]}})
            callback.after_training(Booster(1))
    assert [kept is not None for _, kept in session.reported] == [True, False, False]


def test_the_last_model_of_lightgbm_is_saved_and_read_back(library, tmp_path):
    lightgbm = library("lightgbm", lightgbm={"Booster": Booster})
    session = FakeSession(tmp_path)
    with activated(session):
        callback = lightgbm.TuneReportCheckpointCallback()
        for i in range(3):
            callback(
                SimpleNamespace(
                    iteration=i,
                    end_iteration=3,
                    model=Booster(i),
                    evaluation_result_list=[("valid", "auc", 0.9, True)],
                )
            )
    assert [kept is not None for _, kept in session.reported] == [False, False, True]
    kept = tune.Checkpoint.from_directory(session.reported[-1][1])
    assert lightgbm.TuneReportCheckpointCallback.get_model(kept).rounds == 2


def test_the_model_of_keras_is_read_back(library, tmp_path):
    keras = library(
        "keras",
        keras={},
        keras_callbacks={
            "Callback": type("Callback", (), {f"on_{one}": lambda *_: None for one in ("epoch_end",)})
        },
        keras_models={"load_model": lambda path: Path(path).name},
    )
    folder = tune.Checkpoint.from_directory(tmp_path)
    with pytest.raises(OvertoneError, match=r"has 0 models"):
        keras.TuneReportCheckpointCallback.get_model(folder)
    (tmp_path / "a.keras").write_text("")
    assert keras.TuneReportCheckpointCallback.get_model(folder) == "a.keras"
    (tmp_path / "b.keras").write_text("")
    with pytest.raises(OvertoneError, match=r"has 2 models \(a.keras, b.keras\): give filename"):
        keras.ReportCheckpointCallback.get_model(folder)
    assert keras.ReportCheckpointCallback.get_model(folder, filename="b.keras") == "b.keras"


def test_the_old_callback_of_keras_reports_its_logs_and_the_accuracy(library, tmp_path):
    keras = library("keras", keras={}, keras_callbacks={"Callback": object})
    session, direct = FakeSession(tmp_path), []
    with activated(session):
        keras.TuneReporterCallback(freq="batch").on_train_batch_end(0, {"acc": 0.5})
    assert session.reported == [({"keras_info": {"acc": 0.5}, "mean_accuracy": 0.5}, None)]
    keras.TuneReporterCallback(lambda **metrics: direct.append(metrics)).on_epoch_end(0, {"loss": 1.0})
    assert direct == [{"keras_info": {"loss": 1.0}}]
    with pytest.raises(OvertoneError, match='choose "epoch" or "batch"'):
        keras.TuneReporterCallback(freq="year")
