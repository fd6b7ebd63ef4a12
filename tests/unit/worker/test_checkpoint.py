"""The checkpoint that users hold."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.worker.checkpoints.checkpoint import Checkpoint


def test_it_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("7")
    checkpoint = Checkpoint.from_directory(tmp_path)
    assert checkpoint.path == str(tmp_path)
    with checkpoint.as_directory() as folder:
        assert Path(folder, "model").read_text() == "7"
    assert checkpoint == Checkpoint(tmp_path)
    assert len({checkpoint, Checkpoint(tmp_path)}) == 1
    assert Path(checkpoint) == tmp_path


def test_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("7")
    with pytest.raises(StorageError, match="model"):
        Checkpoint.from_directory(tmp_path / "model")


def test_to_directory_copies_without_what_is_not_the_users(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "model").write_text("7")
    (source / ".overtone.json").write_text("{}")
    target = Checkpoint(source).to_directory(tmp_path / "target")
    assert [path.name for path in Path(target).iterdir()] == ["model"]
    assert Path(Checkpoint(source).to_directory(), "model").read_text() == "7"


def test_a_plain_dict_is_json(tmp_path: Path) -> None:
    data = {"epoch": 3, "weights": [0.5, None], "text": "é"}
    checkpoint = Checkpoint.from_dict(data)
    assert [path.name for path in Path(checkpoint.path).iterdir()] == ["data.json"]
    assert checkpoint.to_dict() == data


def test_any_other_comes_back_equal_too() -> None:
    data = {"shape": (1, 2), 3: {4}}
    assert Checkpoint.from_dict(data).to_dict() == data


def test_the_directory_of_a_dict_goes_with_it() -> None:
    checkpoint = Checkpoint.from_dict({"a": 1})
    path = Path(checkpoint.path)
    assert path.exists()
    del checkpoint
    gc.collect()
    assert not path.exists()


def test_files_are_no_dict(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="holds no dict"):
        Checkpoint(tmp_path).to_dict()


def test_metadata(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    assert checkpoint.get_metadata() == {}
    checkpoint.update_metadata({"a": 1})
    checkpoint.update_metadata({"b": 2})
    assert Checkpoint(tmp_path).get_metadata() == {"a": 1, "b": 2}
    checkpoint.set_metadata({"c": 3})
    assert checkpoint.get_metadata() == {"c": 3}


def test_the_directory_under_its_former_names(tmp_path: Path) -> None:
    checkpoint = Checkpoint.from_directory(tmp_path)
    assert checkpoint.value == checkpoint.dir_or_data == str(tmp_path)
