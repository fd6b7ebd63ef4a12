from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.store import Store
from overtone.store.remote import RemoteStore
from overtone.store.retrying import Retrying
from overtone.testing.store_conformance import StoreConformance

pytest.importorskip("fsspec")


class TestRemoteStoreInMemory(StoreConformance):
    def make_store(self, folder: Path) -> Store:
        return RemoteStore(f"memory:/{folder}/store", cache=folder / "cache")


class TestRemoteStoreInAFolder(StoreConformance):
    def make_store(self, folder: Path) -> Store:
        return RemoteStore(f"file://{folder}/store", cache=folder / "cache")


class TestRetryingStore(StoreConformance):
    def make_store(self, folder: Path) -> Store:
        return Retrying(RemoteStore(f"memory:/{folder}/retried", cache=folder / "cache"))
