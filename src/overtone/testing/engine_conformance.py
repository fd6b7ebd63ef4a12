"""What every engine must do, as a test class: subclass it and define `make_engine`.

    class TestMyEngine(EngineConformance):
        def make_engine(self):
            return MyEngine(slots=2)

It drives the engine with the raw protocol through the disasters of a trial's life and asserts
the sequence of events. An engine that cannot survive some of them says so in the class
attributes (see `EngineSuite`); those tests are skipped.
"""

from __future__ import annotations

from overtone.testing.engine_disasters import Disasters
from overtone.testing.engine_life import PlainLife
from overtone.testing.engine_saving import Saving


class EngineConformance(PlainLife, Saving, Disasters):
    """The contract of an engine."""
