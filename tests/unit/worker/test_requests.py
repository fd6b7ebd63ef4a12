from __future__ import annotations

from overtone.worker.server import requests


def test_every_request_has_the_same_size() -> None:
    whats = (
        requests.JOB,
        requests.NEW,
        requests.TERMINATE,
        requests.KILL,
        requests.WATCH,
        requests.UNWATCH,
        requests.GUARD,
    )
    assert len(set(whats)) == len(whats)
    for what in whats:
        packed = requests.REQUEST.pack(what, 70_000, 80_000, 9 << 40)
        assert requests.REQUEST.unpack(packed) == (what, 70_000, 80_000, 9 << 40)
        assert len(packed) == 24
