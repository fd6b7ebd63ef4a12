from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.store import Store
from overtone.store.local import LocalStore
from overtone.testing.store_conformance import StoreConformance


class TestLocalStore(StoreConformance):
    def make_store(self, folder: Path) -> Store:
        return LocalStore(folder / "store", durable=False)


class TestDurableLocalStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _synced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.fsync", lambda fd: None)

    def make_store(self, folder: Path) -> Store:
        return LocalStore(folder / "store")
