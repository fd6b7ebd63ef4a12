from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.store import Store
from overtone.engines.discards import Discards


class Memory(Store):
    def __init__(self, *keys: str) -> None:
        self.keys = list(keys)

    def put(self, source: Path, key: str) -> str:
        raise NotImplementedError

    def get(self, uri: str) -> Path:
        raise NotImplementedError

    def delete(self, uri: str) -> None:
        if uri == "locked":
            raise PermissionError(uri)
        self.keys.remove(uri)

    def list(self, prefix: str = "") -> list[str]:
        return self.keys


def test_deletions_are_made_in_order_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    store, woken = Memory("a", "b", "c"), []
    discards = Discards(store, lambda: woken.append(1))
    assert discards.done() == []
    for uri in ("c", "locked", "a"):
        discards.put(uri)
    discards.close(10)
    assert discards.done() == ["c", "locked", "a"]
    assert discards.done() == []
    assert store.keys == ["b"]
    assert len(woken) == 3
    assert "the checkpoint locked could not be deleted" in capsys.readouterr().err


def test_without_a_store_all_is_deleted_already() -> None:
    discards = Discards(None, lambda: None)
    discards.put("a")
    discards.close(10)
    assert discards.done() == ["a"]
