"""Conformance tests for engines: subclass the test class and define `make_engine`.

    class TestMyEngine(EngineConformance):
        def make_engine(self):
            return MyEngine(slots=2)

The tests drive the engine with the raw protocol through failures of trials and assert
the sequence of events. Class attributes (see `EngineSuite`) declare what an engine does not support;
the corresponding tests are skipped.
"""

from __future__ import annotations

from overtone.testing.engine_disasters import Disasters
from overtone.testing.engine_life import PlainLife
from overtone.testing.engine_ranks import Ranks
from overtone.testing.engine_saving import Saving


class EngineConformance(PlainLife, Saving, Disasters, Ranks):
    """The contract of an engine."""
