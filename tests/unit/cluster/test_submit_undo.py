"""What a submit that could not run its script takes down, and what a run's end takes down."""

from __future__ import annotations

import io
import os
import signal
from pathlib import Path

import pytest

from overtone.cluster import run_end, submit
from overtone.cluster.config import ClusterConfig, Provider
from overtone.cluster.interrupts import Interrupts
from overtone.cluster.progress import Progress
from overtone.cluster.remote import RemoteError
from overtone.cluster.run_record import RunRecord
from overtone.cluster.session import Session, attach_command
from overtone.errors import OvertoneError

OTHER = "20261123-181500-c0ffee"


class Head:
    """A head with runs."""

    def __init__(self, *runs):
        self._runs = [{"life": "1", "takes_down": False, **run} for run in runs]

    def runs(self):
        return self._runs

    def stop(self, run_id):
        raise RemoteError("there is no such run")


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERTONE_HOME", str(tmp_path))
    return ClusterConfig("lab", Provider("local", {"hosts": ("10.0.0.1",)}), source=Path("my lab.yaml"))


@pytest.fixture
def taken_down(monkeypatch):
    found = []
    for module in (run_end, submit):
        monkeypatch.setattr(module, "take_down", lambda config, *_: found.append(config.name))
    return found


def submission(config, monkeypatch, ending, head, has_started=False, error=None):
    program = submit.Program((None, "train.py"), "~", "train.py", ())
    made = submit._Submission(config, program, ending, Progress(stream=io.StringIO()), Interrupts(), None)
    made.state.update(id="1", phase="up")

    def up():
        made._head = head
        if has_started:
            made.state.update(starter=made.record.id)
        if error is not None:
            raise error
        return head

    def begin(head, going_on):
        raise OvertoneError("train.py runs already")

    monkeypatch.setattr(made, "_up", up)
    monkeypatch.setattr(made, "_begin", begin)
    return made


@pytest.mark.parametrize("ending", ["always", "started"])
@pytest.mark.parametrize("state", ["running", "waiting"])
def test_a_submit_that_is_refused_leaves_the_run_of_another_alone(config, taken_down, monkeypatch, ending, state):
    head = Head({"id": OTHER, "state": state})
    with pytest.raises(OvertoneError, match="already"):
        submission(config, monkeypatch, ending, head, has_started=True).carry_out(False, None)
    assert not taken_down


def test_a_submit_that_fails_takes_down_what_it_started(config, taken_down, monkeypatch):
    head = Head({"id": OTHER, "state": "ended"}, {"id": OTHER, "state": "running", "life": "0"})
    with pytest.raises(OvertoneError, match="already"):
        submission(config, monkeypatch, "started", head, has_started=True).carry_out(False, None)
    assert taken_down == ["lab"]


def test_a_cluster_that_was_up_before_is_said_to_stay(config, taken_down, monkeypatch):
    made = submission(config, monkeypatch, "started", Head())
    with pytest.raises(OvertoneError, match="already"):
        made.carry_out(False, None)
    assert not taken_down
    assert "lab stays up, as before; overtone down 'my lab.yaml' takes it down" in made.progress._stream.getvalue()


def test_why_it_failed_is_said_although_something_is_left(config, monkeypatch):
    def take_down(*_):
        raise OvertoneError("left on 10.0.0.1")

    monkeypatch.setattr(submit, "take_down", take_down)
    made = submission(config, monkeypatch, "started", Head(), has_started=True)
    with pytest.raises(OvertoneError, match="left on"):
        made.carry_out(False, None)
    assert "train.py runs already" in made.progress._stream.getvalue()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OvertoneError("the head has no address yet")])
def test_a_cluster_whose_head_is_not_reached_is_taken_down(config, taken_down, monkeypatch, error):
    made = submission(config, monkeypatch, "started", None, has_started=True, error=error)
    if isinstance(error, KeyboardInterrupt):
        assert made.carry_out(False, None) == 130
    else:
        with pytest.raises(OvertoneError, match="no address"):
            made.carry_out(False, None)
    assert taken_down == ["lab"]


def test_ctrl_c_just_before_the_start_returns_takes_the_cluster_down(config, taken_down, monkeypatch):
    def up(config, *_, starter, **__):
        made.state.update(phase="up", starter=starter)
        raise KeyboardInterrupt

    program = submit.Program((None, "train.py"), "~", "train.py", ())
    made = submit._Submission(config, program, "started", Progress(stream=io.StringIO()), Interrupts(), None)
    monkeypatch.setattr(submit.apply, "up", up)
    assert made.carry_out(False, None) == 130
    assert taken_down == ["lab"]


def test_a_second_ctrl_c_just_after_the_first_does_not_leave_the_cluster(config, taken_down, monkeypatch):
    made = submission(config, monkeypatch, "started", None, has_started=True, error=KeyboardInterrupt())
    monkeypatch.setattr(made.progress, "warn", lambda text: os.kill(os.getpid(), signal.SIGINT))
    with made._interrupts:
        assert made.carry_out(False, None) == 130
    assert taken_down == ["lab"]


def test_what_goes_on_between_the_results_and_the_end_is_said(config, taken_down, monkeypatch, capfd):
    state = submit.State.open(config)
    state.update(id="1", phase="up")
    session = new_session(config, state, OTHER)
    session.interrupts.shield("bringing results back")  # as it was before

    class Looking(Head):
        def runs(self):
            os.kill(os.getpid(), signal.SIGINT)
            return super().runs()

    session.head = Looking({"id": OTHER, "state": "ended", "takes_down": True})
    with session.interrupts:
        assert run_end._finish(session, {"id": OTHER, "status": 0}, "started", "1") is True
    said = capfd.readouterr().err
    assert "looking who else uses lab; press Ctrl-C again to leave it as it is: overtone down 'my lab.yaml'" in said
    assert "bringing results back" not in said


def test_stop_waits_for_the_runs_of_others_whose_end_takes_the_cluster_down(config, taken_down, monkeypatch):
    state = submit.State.open(config)
    state.update(id="1", phase="up")
    own, other = new_session(config, state, "20261123-181501-c0ffee"), new_session(config, state, OTHER)
    for session in (own, other):
        session.head = Head({"id": OTHER, "state": "running"})
    facts = {"id": own.record.id, "status": 0, "takes_down": False}
    assert run_end._finish(own, facts, "always", "1") is False
    assert not taken_down
    other.head = Head({"id": OTHER, "state": "ended"}, {"id": own.record.id, "state": "ended"})
    assert run_end._finish(other, {**facts, "id": OTHER}, "started", "1") is True
    assert taken_down == ["lab"]


def new_session(config, state, run_id):
    return Session(config, None, RunRecord(state.folder, run_id), Progress(stream=io.StringIO()), Interrupts())


def test_a_command_in_a_message_can_be_copied(config):
    assert attach_command(config) == "overtone attach 'my lab.yaml'"
