"""What callbacks for training loops report."""

import pytest

from overtone.errors import OvertoneError
from overtone.tune.integration import lightgbm
from overtone.tune.integration.reported import chosen
from overtone.worker.session.current import activated

LOGS = {"loss": 0.5, "val_loss": 0.25}


class FakeSession:
    def __init__(self):
        self.reported = []

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
