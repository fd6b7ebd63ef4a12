"""Which pieces make the journal."""

import pytest

from overtone.errors import StorageError
from overtone.journal.segments import segments
from overtone.store.files import RemoteFiles

pytest.importorskip("fsspec")


def found(tmp_path, *names):
    files = RemoteFiles(f"memory:/{tmp_path}/exp")
    for name in names:
        files.write(f"journal/{name}.jsonl", name.encode())
    return [
        (one.name.removeprefix("journal/").removesuffix(".jsonl"), one.begin, one.end)
        for one in segments(files)
    ]


def test_pieces_come_in_order(tmp_path):
    assert found(tmp_path, "000002-f1", "000001-f1", "000010-f1x", "notes") == [
        ("000001-f1", 0, 9), ("000002-f1", 9, 18)
    ]  # fmt: skip
    assert found(tmp_path / "empty") == []


def test_late_pieces_of_former_holders_do_not_count(tmp_path):
    names = [
        "000001-f1",
        "000002-f1",
        "000003-f1",
        "000003-f2",
        "000004-f1",
        "000004-f2",
        "000005-f1",
        "000005-f7",
    ]
    assert [name for name, _, _ in found(tmp_path, *names)] == [
        "000001-f1", "000002-f1", "000003-f2", "000004-f2", "000005-f7"
    ]  # fmt: skip


def test_a_holder_that_goes_on_where_nothing_new_came_in_between(tmp_path):
    assert [name for name, _, _ in found(tmp_path, "000001-f1", "000002-f1", "000003-f2", "000004-f1")] == [
        "000001-f1", "000002-f1", "000003-f2"
    ]  # fmt: skip


def test_a_piece_that_is_missing_is_named(tmp_path):
    with pytest.raises(StorageError, match="piece 2 of the journal is missing, and piece 3 is there"):
        found(tmp_path, "000001-f1", "000003-f1")


def test_many_pieces(tmp_path):
    names = [f"{n:06d}-f1" for n in (*range(1, 12), 1_000_000)]
    with pytest.raises(StorageError, match="piece 12 of the journal is missing, and piece 1000000"):
        found(tmp_path, *names)
