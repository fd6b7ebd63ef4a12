from __future__ import annotations

from overtone.core.messages import Record, Reported, Tick
from overtone.core.protocols import Observer
from overtone.run.resume.replay import Resuming
from overtone.searchers import BasicVariantGenerator


class Watching(Observer):
    def __init__(self, breaks: bool = False) -> None:
        self.heard, self._breaks = [], breaks

    def on_record(self, record) -> None:
        raise AssertionError("it is past")

    def on_past(self, record) -> None:
        self.heard.append(record)
        if self._breaks:
            raise ValueError("no")


class Nobody(Observer):
    def on_record(self, record) -> None:
        raise AssertionError("it does not follow the past")


PLAIN = (4, 0.5, "358bb_00000", 0, 1, {"loss": 1.0})


def test_observers_hear_of_the_past_and_cannot_hurt(capsys) -> None:
    watching, broken = Watching(), Watching(breaks=True)
    resuming = Resuming(None, None, BasicVariantGenerator(), [Nobody(), broken, watching])
    tick = Record(3, Tick(0.4))
    resuming._on_record(tick)
    resuming._on_plain(PLAIN)
    assert broken.heard == [tick]
    assert watching.heard == [tick, Record(4, Reported(0.5, "358bb_00000", 0, 1, {"loss": 1.0}))]
    assert "Watching raised ValueError: no at what happened before" in capsys.readouterr().err
