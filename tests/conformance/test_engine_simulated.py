"""The simulated engine keeps the contract of engines, as far as curves can break it."""

from __future__ import annotations

from overtone.engines.simulated import Simulated
from overtone.testing.engine_conformance import EngineConformance


class TestSimulated(EngineConformance):
    isolates = False
    parks = False
    runs_code = False

    def make_engine(self) -> Simulated:
        return Simulated(workers=2)
