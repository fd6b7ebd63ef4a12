"""The local engine keeps the contract of an engine also where it spawns its processes, which takes longer."""

from __future__ import annotations

import pytest

from overtone.core.protocols import Engine
from overtone.engines.local import Local
from overtone.testing.engine_conformance import EngineConformance
from overtone.testing.engine_life import PlainLife
from overtone.testing.engine_saving import Saving


class TestSpawnInCI(PlainLife, Saving):
    """Without disasters: after its start a process is like those of tests/conformance/test_engine_local.py."""

    def make_engine(self) -> Engine:
        return Local(cpus=2, start_method="spawn")


@pytest.mark.full
class TestSpawn(EngineConformance):
    def make_engine(self) -> Engine:
        return Local(cpus=2, start_method="spawn")
