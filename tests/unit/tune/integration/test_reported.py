"""What callbacks for training loops report."""

import importlib

import pytest

from overtone.errors import OvertoneError, TrialHalted
from overtone.tune.integration import catboost, lightgbm
from overtone.tune.integration.reported import chosen
from overtone.worker.session.current import activated

LOGS = {"loss": 0.5, "val_loss": 0.25}


class FakeSession:
    def __init__(self):
        self.reported = []

    def get_world_rank(self):
        return 0

    def report(self, metrics, *, checkpoint=None):
        self.reported.append((metrics, checkpoint is not None))


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (None, LOGS),
        ("loss", {"loss": 0.5}),
        (["val_loss"], {"val_loss": 0.25}),
        ({"error": "val_loss"}, {"error": 0.25}),
    ],
)
def test_metrics_are_named_listed_or_renamed(metrics, expected):
    assert chosen(metrics, LOGS) == expected


def test_a_metric_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(OvertoneError, match="no 'acc' to report: the training loop has 'loss', 'val_loss'"):
        chosen("acc", LOGS)


def test_a_tensor_of_one_number_is_that_number():
    class Tensor:
        shape = ()

        def item(self):
            return 7

    assert chosen(None, {"n": Tensor()}) == {"n": 7}


class Environment:
    iteration, end_iteration = 0, 10
    evaluation_result_list = [("valid", "auc", 0.9, True)]


def test_rounds_of_lightgbm_are_reported():
    session = FakeSession()
    with activated(session):
        lightgbm.TuneReportCallback({"score": "valid-auc"})(Environment())
    assert session.reported == [({"score": 0.9}, False)]


def test_rounds_of_lightgbm_are_saved():
    saved = []

    class Model:
        def save_model(self, path):
            saved.append(path.rpartition("/")[2])

    environment = Environment()
    environment.model = Model()
    session = FakeSession()
    with activated(session):
        callback = lightgbm.TuneReportCheckpointCallback(frequency=2)
        callback(environment)
        environment.iteration = 1
        callback(environment)
    assert session.reported == [({"valid-auc": 0.9}, False), ({"valid-auc": 0.9}, True)]
    assert saved == ["model.txt"]


class Iteration:
    iteration, metrics = 2, {"learn": {"RMSE": [2.0, 1.0]}, "validation": {"RMSE": [3.0, 2.5]}}


def test_iterations_of_catboost_are_reported():
    session = FakeSession()
    with activated(session):
        assert catboost.TuneReportCallback().after_iteration(Iteration()) is True
        callback = catboost.TuneReportCallback(
            ["twice"], results_postprocessing_fn=lambda logs: {"twice": 2 * logs["learn-RMSE"]}
        )
        assert callback.after_iteration(Iteration()) is True
    assert session.reported == [({"learn-RMSE": 1.0, "validation-RMSE": 2.5}, False), ({"twice": 2.0}, False)]


def test_catboost_ends_by_its_own_way_when_its_trial_is_halted():
    class Halted(FakeSession):
        def report(self, metrics, *, checkpoint=None):
            raise TrialHalted("this trial was told to end")

    with activated(Halted()):
        assert catboost.TuneReportCallback().after_iteration(Iteration()) is False


def test_mxnet_is_answered_with_its_end():
    with pytest.raises(ImportError, match="MXNet was retired in 2023"):
        importlib.import_module("overtone.tune.integration.mxnet")
