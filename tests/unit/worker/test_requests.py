from __future__ import annotations

from overtone.worker import requests


def test_every_request_has_the_same_size() -> None:
    for what in (requests.JOB, requests.NEW, requests.TERMINATE, requests.KILL):
        packed = requests.REQUEST.pack(what, 70_000)
        assert requests.REQUEST.unpack(packed) == (what, 70_000)
        assert len(packed) == 8
