"""Stacks of real processes: of trials that hang in Python, in native code, stopped, and of their children."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from overtone import tune
from overtone.cli import main
from overtone.control.answers import ControlError
from overtone.control.client import question
from overtone.engines.local.engine import Local
from overtone.errors import OvertoneError
from overtone.worker import stacks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stacks are read from /proc")

LONG_S = 1000


def in_python():
    time.sleep(LONG_S)


def with_the_gil():
    ctypes.PyDLL(None).sleep(LONG_S)


def with_signals_blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, {stacks.SIGNAL})
    time.sleep(LONG_S)


def with_files_closed():
    os.closerange(3, 256)
    time.sleep(LONG_S)


def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)


def in_the_kernel():
    if not ctypes.CDLL(None).vfork():  # its parent waits, uninterruptible, until the child is gone
        time.sleep(LONG_S)


def with_children():
    subprocess.Popen(["sleep", str(LONG_S)])
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(LONG_S,)).start()
    time.sleep(LONG_S)


def with_its_own_handlers():
    faulthandler.enable()
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.signal(signal.SIGUSR2, lambda *_: None)
    time.sleep(LONG_S)


def _wait_for(is_so):
    give_up_at = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


@pytest.fixture
def process():
    """Forks a process that answers requests for its stacks, and calls a function."""
    pids = []

    def start(function, answers=True):
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                if answers:
                    stacks._file = -1
                    stacks.answer_requests()
                function()
            finally:
                os._exit(1)
        pids.append(pid)
        return pid

    yield start
    for pid in pids:
        for end in (os.killpg, os.kill):  # it may not lead its group yet
            with suppress(ProcessLookupError):
                end(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("function", [in_python, with_the_gil, with_its_own_handlers])
def test_where_it_hangs(process, function):
    pid = process(function)
    _wait_for(lambda: f"in {function.__name__}" in stacks.stacks_of([pid], "trial"))
    os.kill(pid, 0)  # it goes on
    assert stacks.stacks_of([pid], "trial").startswith(f"Process {pid} on ")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (stopped, "kill -CONT"),
        (in_the_kernel, "State: D (in an uninterruptible wait)"),
        (with_signals_blocked, "It blocks signals"),
        (with_files_closed, "does not answer"),
    ],
)
def test_one_that_cannot_answer_is_described(process, monkeypatch, function, says):
    monkeypatch.setattr(stacks, "ANSWER_S", 0.2)
    pid = process(function)
    _wait_for(lambda: says in stacks.stacks_of([pid], "trial"))
    os.kill(pid, 0)


def test_one_without_a_handler_is_not_ended(process):
    pid = process(in_python, answers=False)
    assert "py-spy dump --native" in stacks.stacks_of([pid], "trial")
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)


def test_children_are_listed(process):
    pid, texts = process(with_children), [""]

    def are_all_there():
        texts.append(stacks.stacks_of([pid], "trial"))
        return texts[-1].count("Child process") == texts[-1].count("in with_children") == 2

    _wait_for(are_all_there)
    assert f"sleep {LONG_S}" in texts[-1]


def test_one_that_has_ended(process):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert stacks.stacks_of([pid], "trial") == f"Process {pid} has ended\n"
    with pytest.raises(OvertoneError, match="trial does not run"):
        stacks.stacks_of([0], "trial")


# --- from a trial ---------------------------------------------------------------------


def hanging(config):
    print("hangs")
    in_python()


def asked(folder):
    """Return the stacks of the first trial, once it hangs."""
    texts = [""]

    def hangs():
        with suppress(ControlError):
            texts.append(question(folder, "stack", "0"))
        return "in in_python" in texts[-1]

    _wait_for(hangs)
    return texts[-1]


@pytest.mark.parametrize("start_method", ["warm", "spawn"])
def test_a_trial_that_hangs(tmp_path, start_method, capsys, monkeypatch):
    monkeypatch.setattr(stacks, "ANSWER_S", 60.0)
    engine = Local(cpus=1, start_method=start_method, grace_s=0.1)
    run = tune.start(hanging, storage_path=str(tmp_path), name="exp", verbose=0, engine=engine)
    text = asked(tmp_path / "exp")
    assert "in hanging" in text
    assert "run_trial" not in text
    assert main(["ctl", str(tmp_path / "exp"), "stack", "0"]) == 0
    assert "in hanging" in capsys.readouterr().out
    assert main(["ctl", str(tmp_path / "exp"), "stack", "nine"]) == 1
    assert "in hanging" in run.stack("0")
    assert "in hanging" in tune.attach(tmp_path / "exp").stack("0")
    with pytest.raises(ControlError, match="nine"):
        run.stack("nine")
    run.stop()
    with suppress(OvertoneError):
        run.wait(timeout_s=60)
