"""A pack that was changed is refused, with the name of the file."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest

import overtone
from overtone.errors import DamagedError, StorageError
from overtone.packs.sums import SUMS, to_lines
from overtone.packs.writing import write_pack
from overtone.tune import Checkpoint

_seen: list[str] | None = None


def _audit(event: str, args: tuple) -> None:
    if _seen is not None and event in ("pickle.find_class", "exec", "os.system", "subprocess.Popen"):
        _seen.append(event)


sys.addaudithook(_audit)


def test_a_pack_comes_back(ran, pack):
    loaded = overtone.load_pack(pack)
    assert loaded.config == {
        "x": 1, "pair": (1, 2), "when": datetime(2026, 1, 2), "kind": {"__opaque__": "pathlib.Path"}
    }  # fmt: skip
    assert Path(loaded.checkpoint.path, "weights").read_text() == "1 2"
    assert isinstance(loaded.checkpoint, Checkpoint)
    assert loaded.provenance["trial_id"] == ran.trials[1].trial_id
    files = loaded.provenance["files"]
    assert files["checkpoint/weights"] == hashlib.sha256(b"1 2").hexdigest()
    assert "checkpoint/layers/a b\n\\" in files
    assert loaded == overtone.load_pack(str(pack), sha256=loaded.sha256)


def test_a_moved_pack_and_a_link_to_a_pack_are_loaded(pack, tmp_path):
    shutil.move(pack, tmp_path / "moved")
    (tmp_path / "current").symlink_to("moved")
    assert overtone.load_pack(tmp_path / "current").config["x"] == 1


@pytest.mark.parametrize(
    "name",
    ["SHA256SUMS", "config.json", "provenance.json", "checkpoint/weights", "checkpoint/.overtone.json"],
)
def test_a_changed_byte_is_detected_in_each_file(pack, name):
    data = bytearray((pack / name).read_bytes())
    data[len(data) // 2] ^= 1
    (pack / name).write_bytes(data)
    with pytest.raises(DamagedError) as raised:
        overtone.load_pack(pack)
    assert name in str(raised.value) or name == "SHA256SUMS"


@pytest.mark.parametrize("name", ["config.json", "provenance.json", "checkpoint/weights"])
def test_a_missing_file_is_named(pack, name):
    (pack / name).unlink()
    with pytest.raises(DamagedError, match=f"{name} is missing"):
        overtone.load_pack(pack)


@pytest.mark.parametrize("name", ["extra", "checkpoint/.hidden", "checkpoint/layers/extra"])
def test_an_added_file_is_named(pack, name):
    (pack / name).touch()
    with pytest.raises(DamagedError, match=f"{name} was not packed"):
        overtone.load_pack(pack)


@pytest.mark.parametrize("name", ["checkpoint/weights", "checkpoint/layers", "SHA256SUMS", "added"])
def test_a_link_is_named(pack, tmp_path, name):
    if (pack / name).exists():
        shutil.move(pack / name, tmp_path / "away")
    (pack / name).symlink_to(tmp_path / "away")
    with pytest.raises(StorageError, match=f"{name} (is|cannot be read: it is) a link"):
        overtone.load_pack(pack)


def test_a_pipe_is_named(pack):
    (pack / "checkpoint/weights").unlink()
    os.mkfifo(pack / "checkpoint/weights")
    with pytest.raises(StorageError, match="weights is not a regular file"):
        overtone.load_pack(pack)


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "checkpoint/../../outside", "./config.json"])
def test_a_name_that_leaves_the_folder_is_refused(pack, tmp_path, name):
    (tmp_path / "outside").write_text("mine")
    with open(pack / "SHA256SUMS", "a") as file:
        file.write(f"{hashlib.sha256(b'mine').hexdigest()}  {name}\n")
    with pytest.raises(DamagedError, match=f"{name}', outside of the pack"):
        overtone.load_pack(pack)


def test_another_pack_than_the_expected_one_is_refused(pack, tmp_path):
    write_pack(tmp_path / "other", {}, Checkpoint(pack / "checkpoint"), {})
    wanted = overtone.load_pack(pack).sha256
    assert overtone.load_pack(pack, sha256=wanted.upper()).sha256 == wanted
    with pytest.raises(DamagedError, match="is not the expected pack"):
        overtone.load_pack(tmp_path / "other", sha256=wanted)


def test_what_is_not_a_pack_says_so(tmp_path):
    (tmp_path / "file").touch()
    for name in ("", "nowhere", "file"):
        with pytest.raises(StorageError, match="is not a pack"):
            overtone.load_pack(tmp_path / name)


def test_a_newer_format_is_refused(pack, tmp_path, monkeypatch):
    monkeypatch.setattr("overtone.packs.writing.FORMAT", 2)
    write_pack(tmp_path / "new", {}, Checkpoint(pack / "checkpoint"), {})
    with pytest.raises(StorageError, match="newer version"):
        overtone.load_pack(tmp_path / "new")


class Bomb:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def test_nothing_is_unpickled(tmp_path):
    global _seen
    (tmp_path / "c").mkdir()
    for name in ("data.pkl", "model.pkl", ".overtone.json"):
        (tmp_path / "c" / name).write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    _seen = []
    try:
        write_pack(tmp_path / "pack", {}, Checkpoint(tmp_path / "c"), {})
        overtone.load_pack(tmp_path / "pack")
        seen = _seen
    finally:
        _seen = None
    assert seen == []
    assert not (tmp_path / "trace").exists()


def test_a_pack_at_a_url_is_loaded(pack, tmp_path):
    pytest.importorskip("fsspec")
    from overtone.store.files import RemoteFiles

    url = f"memory:/{tmp_path}/pack"
    there = RemoteFiles(url)
    names = [one.relative_to(pack).as_posix() for one in pack.rglob("*") if one.is_file()]
    there.upload({name: pack / name for name in names})
    loaded = overtone.load_pack(url)
    assert Path(loaded.checkpoint.path, "weights").read_text() == "1 2"
    assert loaded.sha256 == overtone.load_pack(pack).sha256
    there.write("checkpoint/extra", b"")
    with pytest.raises(DamagedError, match=r"memory://.*checkpoint/extra was not packed"):
        overtone.load_pack(url)
    there.remove(["checkpoint/extra"])
    there.write("checkpoint/weights", b"1 3")
    with pytest.raises(DamagedError, match="weights is not the file"):
        overtone.load_pack(url)
    with pytest.raises(StorageError, match="is not a pack"):
        overtone.load_pack(f"{url}/nowhere")


def sums_again(pack):
    """Write `SHA256SUMS` anew, as someone would who made the pack."""
    names = [path.relative_to(pack).as_posix() for path in pack.rglob("*") if path.is_file()]
    sums = {name: hashlib.sha256((pack / name).read_bytes()).hexdigest() for name in names if name != SUMS}
    (pack / SUMS).write_bytes(to_lines(sums))


@pytest.mark.parametrize(
    "config", ['{"a":' * 900 + "1" + "}" * 900, "[" * 100_000, '{"a": {"__tuple__": 5}}'], ids=len
)
def test_a_config_that_no_pack_has_is_refused(pack, config):
    (pack / "config.json").write_text(config)
    sums_again(pack)
    with pytest.raises(DamagedError, match=r"config\.json is not the JSON of a pack"):
        overtone.load_pack(pack)


def test_folders_that_are_nested_too_deeply_are_refused(pack):
    above = os.open(pack / "checkpoint", os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("a", dir_fd=above)
        below = os.open("a", os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    with pytest.raises(DamagedError, match="nested too deeply"):
        overtone.load_pack(pack)
    os.removedirs(f"{pack}/checkpoint{'/a' * 1200}")  # shutil.rmtree would be too deep, too


def test_a_pack_without_the_folder_of_the_checkpoint_is_refused(pack):
    shutil.rmtree(pack / "checkpoint")
    sums_again(pack)
    with pytest.raises(DamagedError, match="the folder checkpoint is missing"):
        overtone.load_pack(pack)
