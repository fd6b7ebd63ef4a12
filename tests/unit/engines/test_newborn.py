"""The server that begins before its engine."""

import os
import sys

import psutil
import pytest

from overtone.engines import newborn
from overtone.engines.local.warm import WarmServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere trials are spawned")


@pytest.fixture(autouse=True)
def no_ray(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delitem(sys.modules, "ray", raising=False)


def test_the_one_that_began_is_taken():
    with newborn.ahead(None):
        (waiting,) = newborn._waiting
        server = WarmServer()
        assert server.line is waiting.line
        assert newborn._waiting == []
        assert server.end(4.0)


def test_one_that_nobody_took_is_ended():
    with newborn.ahead("local"):
        (waiting,) = newborn._waiting
    assert newborn._waiting == []
    assert not psutil.pid_exists(waiting.pid)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(waiting.prints)


@pytest.mark.parametrize("engine", ["inline", "simulated", "ray", object()])
def test_none_begins_for_other_engines(engine):
    with newborn.ahead(engine):
        assert newborn._waiting == []


def test_none_begins_where_ray_is_likely(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with newborn.ahead(None):
        assert newborn._waiting == []
