"""Whose host it is, if two clusters begin at the same moment."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from overtone.cluster.local import host_facts, host_record

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="hosts of clusters run Linux or macOS")


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OVERTONE_CLUSTER_FOLDER", str(tmp_path / "cluster"))


def claim_of(name: str, began: float, life: str | None = None) -> dict[str, object]:
    return {"name": name, "id": life or f"life of {name}", "began": began}


def owner() -> tuple[object, object]:
    found = host_record.claim() or {}
    return found["name"], found["id"]


def test_the_first_of_many_has_the_host() -> None:
    begun = threading.Barrier(8)

    def take(name: str) -> None:
        begun.wait(60)
        host_record.take(claim_of(name, time.time()))

    names = [f"cluster{i}" for i in range(8)]
    threads = [threading.Thread(target=take, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = host_record.claim()
    assert found is not None
    assert found["name"] in names
    assert host_record.new_claim() == found


def test_the_same_cluster_takes_it_again() -> None:
    host_record.take(claim_of("lab", time.time(), "1"))
    host_record.take(claim_of("lab", time.time(), "1"))
    host_record.take(claim_of("lab", time.time(), "2"), lives=["2", "1"])
    assert owner() == ("lab", "2")


def test_a_cluster_of_the_same_name_that_another_machine_starts_does_not_take_it() -> None:
    host_record.take(claim_of("lab", time.time(), "theirs"))
    host_record.take(claim_of("lab", time.time(), "ours"), lives=["ours", "our earlier one"])
    assert owner() == ("lab", "theirs")


def test_what_another_machine_starts_under_the_same_name_is_not_ended() -> None:
    host_record.take(claim_of("lab", time.time(), "theirs"))
    host_facts.end("lab", ["ours"])
    assert owner() == ("lab", "theirs")
    host_facts.end("lab", ["ours", "theirs"])
    assert host_record.claim() is None


def test_an_old_claim_is_what_a_killed_command_left() -> None:
    host_record.take(claim_of("killed", time.time() - host_record.SETUP_S - 1))
    assert host_record.new_claim() == {}
    host_record.take(claim_of("lab", time.time()))
    assert host_record.new_claim()["name"] == "lab"
