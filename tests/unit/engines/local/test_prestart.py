"""The server that begins before its engine."""

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from overtone.engines.local import prestart
from overtone.engines.local.warm_server import WarmServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere trials are spawned")


@pytest.fixture(autouse=True)
def no_ray(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delitem(sys.modules, "ray", raising=False)


def test_the_one_that_began_is_taken():
    with prestart.ahead(None):
        (waiting,) = prestart._waiting
        server = WarmServer(*prestart.take())
        assert server.line is waiting.line
        assert prestart._waiting == []
        assert server.end(4.0)


@pytest.fixture
def no_children_reaped():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


def test_its_signals_are_not_those_that_the_driver_ignores(no_children_reaped):
    with prestart.ahead(None):
        (waiting,) = prestart._waiting
        server = WarmServer(*prestart.take())
        status = Path(f"/proc/{waiting.pid}/status").read_text()
        ignored = next(line for line in status.splitlines() if line.startswith("SigIgn"))
        assert not int(ignored.split()[1], 16) & 1 << (signal.SIGCHLD - 1)
        server.end(4.0)


def test_one_that_nobody_took_is_ended():
    with prestart.ahead("local"):
        (waiting,) = prestart._waiting
    assert prestart._waiting == []
    assert not psutil.pid_exists(waiting.pid)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(waiting.prints)


@pytest.mark.parametrize("engine", ["inline", "simulated", "ray", object()])
def test_none_begins_for_other_engines(engine):
    with prestart.ahead(engine):
        assert prestart._waiting == []


def test_none_begins_where_ray_is_likely(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with prestart.ahead(None):
        assert prestart._waiting == []
