"""The server that begins before its engine."""

import os
import sys

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
        server = WarmServer()
        assert server.line is waiting.line
        assert prestart._waiting == []
        assert server.end(4.0)


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
