"""The checkpoint that users hold."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
from pathlib import Path

import pytest

from overtone.errors import MissingPackageError, StorageError
from overtone.store.local import LocalStore
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


def test_as_a_path_it_is_what_was_saved_as_in_1x(tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_text("7")
    assert os.fspath(Checkpoint(tmp_path)) == str(tmp_path)
    (tmp_path / ".overtone.json").write_text('{"kind": "file", "name": "model.pkl"}')
    with open(Checkpoint(tmp_path)) as file:
        assert file.read() == "7"
    assert Checkpoint(tmp_path).path == str(tmp_path)


def test_a_url_of_this_machine_is_its_directory(tmp_path: Path) -> None:
    for checkpoint in (Checkpoint(f"file://{tmp_path}"), Checkpoint.from_uri(f"file://{tmp_path}")):
        assert checkpoint == Checkpoint(tmp_path)
        assert checkpoint.uri == f"file://{tmp_path}"
    assert Checkpoint("s3://bucket/a").uri == "s3://bucket/a"


def test_metadata_of_a_kept_checkpoint_does_not_damage_it(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    Checkpoint(tmp_path / "source").set_metadata({"a": 1})
    store = LocalStore(tmp_path / "store")
    uri = store.put(tmp_path / "source", "trial/checkpoint_000001")
    kept = Checkpoint(uri)
    assert kept.get_metadata() == {"a": 1}
    kept.update_metadata({"b": 2})
    assert store.get(uri) == Path(uri)
    assert Checkpoint(uri).get_metadata() == {"a": 1, "b": 2}
    assert sorted(os.listdir(uri)) == [".manifest.json", ".metadata.json"]


def test_metadata_at_a_url_lies_there() -> None:
    pytest.importorskip("fsspec")
    checkpoint = Checkpoint("memory://bucket/checkpoint")
    assert checkpoint.get_metadata() == {}
    checkpoint.set_metadata({"a": 1})
    assert Checkpoint("memory://bucket/checkpoint").get_metadata() == {"a": 1}


class Elsewhere:
    """A file system with the interface of pyarrow's, in a directory of this machine."""

    type_name = "elsewhere"

    def __init__(self, root: Path) -> None:
        self.root = root

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Elsewhere) and other.root == self.root

    __hash__ = None  # type: ignore[assignment]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    found = Elsewhere(tmp_path / "there")
    (found.root / "bucket").mkdir(parents=True)
    (found.root / "bucket" / "model").write_text("7")
    module = "overtone.worker.checkpoints.checkpoint"

    def fetch(fs: Elsewhere, path: str, target: str) -> None:
        shutil.copytree(fs.root / path, target, dirs_exist_ok=True)

    def read(fs: Elsewhere, path: str) -> bytes | None:
        file = fs.root / path
        return file.read_bytes() if file.exists() else None

    monkeypatch.setattr(f"{module}.download", fetch)
    monkeypatch.setattr(f"{module}.read", read)
    monkeypatch.setattr(f"{module}.write", lambda fs, path, data: (fs.root / path).write_bytes(data))
    return found


def test_one_on_a_file_system_of_the_user(elsewhere: Elsewhere, tmp_path: Path) -> None:
    checkpoint = Checkpoint("bucket", filesystem=elsewhere)
    assert (checkpoint.path, checkpoint.filesystem) == ("bucket", elsewhere)
    with checkpoint.as_directory() as folder:
        assert Path(folder, "model").read_text() == "7"
        assert os.fspath(checkpoint) == folder  # fetched once
    target = checkpoint.to_directory(tmp_path / "target")
    assert Path(target, "model").read_text() == "7"
    checkpoint.set_metadata({"a": 1})
    assert (elsewhere.root / "bucket" / ".metadata.json").exists()
    assert checkpoint.get_metadata() == {"a": 1}
    again = pickle.loads(pickle.dumps(checkpoint))
    assert again == checkpoint != Checkpoint("bucket")
    assert again._copy is None
    del checkpoint
    gc.collect()
    assert not Path(folder).exists()


def test_the_file_system_of_arrow(tmp_path: Path) -> None:
    fs = pytest.importorskip("pyarrow.fs")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "model").write_text("7")
    assert isinstance(Checkpoint(tmp_path).filesystem, fs.LocalFileSystem)
    assert Checkpoint(tmp_path / "there", filesystem=fs.LocalFileSystem()) == Checkpoint(tmp_path / "there")
    below = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    checkpoint = Checkpoint("there", filesystem=below)
    with checkpoint.as_directory() as folder:
        assert Path(folder, "model").read_text() == "7"
    checkpoint.set_metadata({"a": 1})
    assert checkpoint.get_metadata() == {"a": 1} == Checkpoint(tmp_path / "there").get_metadata()
    assert Checkpoint("nowhere", filesystem=below).get_metadata() == {}
    with pytest.raises(StorageError, match="there is no directory 'nowhere'"):
        os.fspath(Checkpoint("nowhere", filesystem=below))


def test_without_pyarrow_the_file_system_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match="pyarrow"):
        _ = Checkpoint(tmp_path).filesystem
