"""Plain reports are known by how their lines begin."""

from __future__ import annotations

from overtone.core import messages as m
from overtone.journal.codec import Codec
from overtone.journal.seals import unsealed
from overtone.journal.text import dumps
from overtone.reading.journal_reader import Reports, runs


def test_plain_reports_are_told_apart_from_other_lines() -> None:
    def line(n: int, event, choices=()) -> bytes:
        body = unsealed(Codec().encode(m.Record(n, event, choices))[:-1])
        assert body is not None
        return body

    def report(n: int, trial: str, choices=()) -> bytes:
        return line(n, m.Reported(1.5, trial, 0, n, {"n": n, "ü": "\n"}), choices)

    tick, ruled = line(4, m.Tick(1.0)), report(8, "a", (m.Noted("x"),))
    bodies = [report(1, "a"), report(2, "b"), report(3, "a"), tick, report(5, "b"), ruled]
    assert [one.texts() if isinstance(one, Reports) else one for one in runs(bodies)] == [
        {"a": [dumps({"n": n, "ü": "\n"}) for n in (1, 3)], "b": [dumps({"n": 2, "ü": "\n"})]},
        tick,
        {"b": [dumps({"n": 5, "ü": "\n"})]},
        ruled,
    ]
