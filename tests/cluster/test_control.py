"""A request to a driver on another node of the cluster."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from overtone.control import client
from overtone.control.answers import ControlError
from overtone.control.server import ControlServer
from overtone.journal.lock import WriterLock
from overtone.run.attached import AttachedRun
from overtone.testing.scripted_driver import ScriptedController, ScriptedDriver


def test_an_actor_on_the_drivers_node_hands_requests_in(cluster: Any, tmp_path, monkeypatch, until):
    import ray

    def are_all_free() -> bool:
        return ray.available_resources().get("CPU") == ray.cluster_resources()["CPU"]

    def refuse(*_):
        raise ConnectionRefusedError("the socket is one of another machine")

    driver = ScriptedDriver(ScriptedController("358bb_00000", objections={"stop_trial": "it has ended"}))
    with driver.running():
        lock = WriterLock(tmp_path / "journal.jsonl.lock")
        with closing(ControlServer(tmp_path, driver.inbox)):
            monkeypatch.setattr(client, "connect", refuse)  # In this process; the actor has its own.
            monkeypatch.setattr(client, "this_host", lambda: "laptop")
            run = AttachedRun(tmp_path)
            until(are_all_free)  # an earlier test's are given back soon after it
            assert [run.note("hello"), run.pause("0")] == [2, 3]
            assert run.add({"x": 1}) == "358bb_00001"
            assert are_all_free()
            with pytest.raises(ControlError, match="it has ended"):
                run.stop_trial("0")
        lock.release()
    assert [record.event.what for record in driver.records] == ["note", "pause_trial", "add"]
