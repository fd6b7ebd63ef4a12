"""The inline engine keeps the contract of engines."""

from __future__ import annotations

from overtone.engines.inline import Inline
from overtone.testing.engine_conformance import EngineConformance


class TestInline(EngineConformance):
    isolates = False
    parks = False

    def make_engine(self) -> Inline:
        return Inline(cpus=2)
