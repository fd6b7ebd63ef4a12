"""A store that keeps no more than it may."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from overtone.errors import NoRoomError
from overtone.store.budgeted import BOOK, Budgeted, within
from overtone.store.local import LocalStore
from overtone.testing.store_conformance import StoreConformance


class TestBudgeted(StoreConformance):
    def make_store(self, folder: Path) -> Budgeted:
        return Budgeted(LocalStore(folder, durable=False), 10**9, folder)


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., str]:
    def put(store: Budgeted, key: str, size: int) -> str:
        source = tmp_path / "source" / key
        (source / "deep").mkdir(parents=True)
        (source / "deep" / "data").write_bytes(b"x" * size)
        return store.put(source, key, move=True)

    return put


def budgeted(tmp_path: Path, most: int, patience_s: float = 0.0) -> Budgeted:
    (tmp_path / "exp").mkdir(exist_ok=True)
    return Budgeted(LocalStore(tmp_path / "exp", durable=False), most, tmp_path / "exp", patience_s)


def test_it_is_exceeded_by_one_and_no_more(tmp_path: Path, put: Callable[..., str]) -> None:
    store = budgeted(tmp_path, 100)
    put(store, "a/1", 60)
    put(store, "a/2", 60)
    with pytest.raises(NoRoomError, match="take 120 bytes, and max_disk is 100 bytes"):
        put(store, "a/3", 1)
    assert store.list() == ["a/1", "a/2"]


def test_all_who_have_it_share_the_room(tmp_path: Path, put: Callable[..., str]) -> None:
    uri = put(budgeted(tmp_path, 100), "a/1", 120)
    with pytest.raises(NoRoomError):
        put(budgeted(tmp_path, 100), "b/1", 1)
    budgeted(tmp_path, 100).delete(uri)
    put(budgeted(tmp_path, 100), "b/2", 1)


def test_a_put_waits_for_a_delete(tmp_path: Path, put: Callable[..., str]) -> None:
    store = budgeted(tmp_path, 100, patience_s=30)
    uri = put(store, "a/1", 120)
    deleting = threading.Timer(0.05, store.delete, [uri])
    deleting.start()
    put(store, "b/1", 1)
    deleting.join()
    assert store.list() == ["b/1"]


def test_a_put_that_fails_takes_no_room(tmp_path: Path, put: Callable[..., str]) -> None:
    store = budgeted(tmp_path, 100)
    with pytest.raises(OSError, match="key"):
        put(store, "a/../1", 200)
    put(store, "a/1", 1)


def test_a_book_that_was_torn_is_read_as_far_as_it_goes(tmp_path: Path, put: Callable[..., str]) -> None:
    store = budgeted(tmp_path, 100)
    put(store, "a/1", 120)
    book = tmp_path / "exp" / BOOK
    book.write_bytes(book.read_bytes() + b'7, "u": 9}')
    with pytest.raises(NoRoomError):
        put(store, "a/2", 1)
    book.write_bytes(b'{"a')
    put(store, "a/3", 1)


def test_no_limit_is_no_wrapping(tmp_path: Path) -> None:
    plain = LocalStore(tmp_path)
    assert within(plain, None, tmp_path) is plain
    assert isinstance(within(plain, 1, tmp_path), Budgeted)
