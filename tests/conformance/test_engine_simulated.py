"""The simulated engine keeps the contract of engines, with curves and with ordinary trainables."""

from __future__ import annotations

from overtone.engines.simulated import Simulated
from overtone.testing.engine_conformance import EngineConformance


class TestCurves(EngineConformance):
    isolates = False
    parks = False
    runs_code = False

    def make_engine(self) -> Simulated:
        return Simulated(workers=2)


class TestOrdinaryTrainables(EngineConformance):
    isolates = False

    def make_engine(self) -> Simulated:
        return Simulated(workers=2)
