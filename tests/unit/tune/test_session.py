"""The calls of training code, as functions and as attributes of `tune`."""

import pytest

from overtone import tune
from overtone.air import session as air_session
from overtone.errors import TrainableError
from overtone.tune import session
from overtone.worker.session.current import activated


class FakeSession:
    def __init__(self, **attributes):
        self.calls = []
        vars(self).update(attributes)

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self.calls.append((name, args, kwargs))
            return name

        return call


@pytest.fixture
def current():
    fake = FakeSession(params={"lr": 1}, checkpoint="/a/file")
    with activated(fake):
        yield fake


def test_a_report_reaches_the_trial_in_every_form(current):
    tune.report({"acc": 1}, checkpoint="c")
    tune.report(acc=1)
    tune.report(0.5)
    air_session.report({"acc": 2})
    assert current.calls == [
        ("report", ({"acc": 1},), {"checkpoint": "c"}),
        ("report", (None,), {"checkpoint": None, "acc": 1}),
        ("report", (0.5,), {"checkpoint": None}),
        ("report", ({"acc": 2},), {"checkpoint": None}),
    ]


@pytest.mark.parametrize(
    "name",
    ["get_checkpoint", "get_experiment_name", "get_local_rank", "get_trial_dir", "get_trial_id", "get_trial_name",
     "get_trial_resources", "get_world_rank", "get_world_size", "should_checkpoint"],
)  # fmt: skip
def test_questions_are_asked_of_the_trial(current, name):
    assert getattr(session, name)() == name


def test_checkpoints_are_handed_to_the_trial(current):
    tune.checkpoint_dir(step=3)
    tune.record_checkpoint("path")
    assert current.calls == [("checkpoint_dir", (3,), {}), ("record_checkpoint", ("path",), {})]


def test_params_and_checkpoint_follow_the_trial(current):
    assert tune.params == {"lr": 1}
    assert tune.checkpoint == "/a/file"
    current.params = {"lr": 2}
    assert tune.params == {"lr": 2}
    assert tune.get_context() is current


def test_without_a_trial_there_are_no_params():
    assert not tune.is_session_enabled()
    assert not hasattr(tune, "params")
    with pytest.raises(AttributeError, match=r"tune\.checkpoint is there while a trial runs"):
        _ = tune.checkpoint
    with pytest.raises(TrainableError, match="no trial runs here"):
        tune.should_checkpoint()


def test_a_trainable_can_be_called_by_itself(monkeypatch):
    monkeypatch.delenv("TUNE_ORIG_WORKING_DIR", raising=False)
    assert tune.get_checkpoint() is None
    with pytest.warns(UserWarning, match="no trial runs here: tune.report"):
        tune.report(acc=1)


def test_a_process_that_a_trial_started_cannot_report(monkeypatch):
    monkeypatch.setenv("TUNE_ORIG_WORKING_DIR", "/home")
    with pytest.raises(TrainableError, match="no trial runs here"):
        tune.report(acc=1)


def test_the_first_forms_of_saving_reach_the_trial(current):
    assert tune.make_checkpoint_dir(3) == "make_checkpoint_dir"
    tune.save_checkpoint("path")
    tune.track.log(acc=1)
    assert current.calls == [
        ("make_checkpoint_dir", (), {}),
        ("save_checkpoint", ("path",), {}),
        ("report", ({"acc": 1},), {"checkpoint": None}),
    ]
