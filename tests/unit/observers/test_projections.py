from __future__ import annotations

from dataclasses import replace

import pytest

from overtone.core.table import TrialTable
from overtone.errors import MissingPackageError, StorageError
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.observers.projections import file_observers, rebuild
from overtone.observers.table_keeper import TableKeeper
from overtone.observers.tensorboard.scalars import TensorBoard
from overtone.testing.observer_conformance import eventful


def snapshot(folder) -> dict[str, str]:
    return {
        f"{path.parent.name}/{path.name}": path.read_text()
        for path in folder.glob("*/*.*")
        if not path.name.startswith("events")
    }


def test_rebuilt_files_are_those_of_the_run(tmp_path) -> None:
    records = [replace(record, n=record.n + 1) for record in eventful()]
    writer = JournalWriter(tmp_path / "journal.jsonl", new_header(1, {}))
    writer.append(records)
    writer.close()
    table = TrialTable()
    observers = [TableKeeper(table), *file_observers(tmp_path, tensorboard=False, table=table)]
    for record in records:
        for observer in observers:
            observer.on_record(record)
    for observer in observers:
        observer.close()
    live = snapshot(tmp_path)
    assert {name.partition("/")[2] for name in live} == {
        "params.json",
        "result.json",
        "progress.csv",
        "error.txt",
    }
    for path in tmp_path.glob("*/*"):
        path.write_text("{torn, or written twice")
    (tmp_path / "358bb_00000" / "checkpoint_000001").mkdir()
    table = rebuild(tmp_path)
    assert snapshot(tmp_path) == live
    assert (tmp_path / "358bb_00000" / "checkpoint_000001").exists()
    assert table.rows["358bb_00000"].n_results == 5


def test_tensorboard_is_on_where_it_can_be(tmp_path, monkeypatch) -> None:
    def has_it(**options) -> bool:
        found = file_observers(tmp_path, table=TrialTable(), **options)
        return any(isinstance(one, TensorBoard) for one in found)

    for module in ("projections", "tensorboard.scalars"):
        monkeypatch.setattr(f"overtone.observers.{module}.is_available", lambda: True)
    assert [has_it(), has_it(tensorboard=True), has_it(tensorboard=False)] == [True, True, False]
    for module in ("projections", "tensorboard.scalars"):
        monkeypatch.setattr(f"overtone.observers.{module}.is_available", lambda: False)
    assert [has_it(), has_it(tensorboard=False)] == [False, False]
    with pytest.raises(MissingPackageError, match="overtone\\[tensorboard\\]"):
        has_it(tensorboard=True)


def test_without_a_journal_nothing_is_touched(tmp_path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "result.json").write_text("old")
    with pytest.raises(StorageError, match="cannot be read"):
        rebuild(tmp_path)
    assert (tmp_path / "t" / "result.json").read_text() == "old"
