"""The local engine keeps the contract of an engine; with spawned processes: tests/slow/test_spawned_engine.py."""

from __future__ import annotations

import sys

import pytest

from overtone.core.protocols import Engine
from overtone.engines.local import Local
from overtone.testing.engine_conformance import EngineConformance


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
class TestWarm(EngineConformance):
    def make_engine(self) -> Engine:
        return Local(cpus=2, start_method="warm")
