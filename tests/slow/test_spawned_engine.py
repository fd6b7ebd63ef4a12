"""The local engine keeps the contract of an engine also where it spawns its processes, which takes longer."""

from __future__ import annotations

from overtone.core.protocols import Engine
from overtone.engines.local import Local
from overtone.testing.engine_conformance import EngineConformance


class TestSpawn(EngineConformance):
    def make_engine(self) -> Engine:
        return Local(cpus=2, start_method="spawn")
