"""Objects that are shared without copies."""

from __future__ import annotations

import os
import pickle
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from overtone.errors import StorageError
from overtone.worker import shared_objects


def test_any_object_comes_back() -> None:
    value = {"a": [1, (2, None)], "f": lambda x: x + 1}
    got = shared_objects.get(shared_objects.put(value))
    assert got["a"] == value["a"]
    assert got["f"](1) == 2


def test_a_list_of_references() -> None:
    assert shared_objects.get([shared_objects.put(1), shared_objects.put(2)]) == [1, 2]


def test_arrays_are_read_only_views() -> None:
    array = np.arange(100_000, dtype=np.float64).reshape(100, 1000)
    first, second = (
        shared_objects.get(ref) for ref in [shared_objects.put({"x": array, "y": array[:, ::2]})] * 2
    )
    assert np.array_equal(first["x"], array)
    assert np.array_equal(first["y"], array[:, ::2])
    assert not first["x"].flags.owndata
    assert first["x"] is not second["x"]
    with pytest.raises(ValueError, match="read-only"):
        first["x"][0, 0] = 1


def test_a_tensor_shares_memory_and_writes_stay_with_the_writer() -> None:
    torch = pytest.importorskip("torch")
    ref = shared_objects.put(torch.arange(1000))
    mine, other = shared_objects.get(ref), shared_objects.get(ref)
    mine[0] = 7
    assert (int(mine[0]), int(other[0])) == (7, 0)
    assert mine.dtype == torch.int64


def test_a_reference_is_small_picklable_and_hashable() -> None:
    ref = shared_objects.put(np.zeros(1_000_000))
    body = pickle.dumps(ref)
    assert len(body) < 500
    assert {pickle.loads(body): 1}[ref] == 1


def test_empty_buffers_and_empty_objects() -> None:
    got = shared_objects.get(shared_objects.put([np.zeros(0), b"", np.ones(3)]))
    assert [len(one) for one in got] == [0, 0, 3]


def test_what_is_no_reference() -> None:
    with pytest.raises(TypeError, match=r"what put\(\) returned.*not 5"):
        shared_objects.get(5)  # type: ignore[arg-type]


def test_a_lost_object_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="as long as the process that put them"):
        shared_objects.get(shared_objects.ObjectRef(str(tmp_path / "gone")))


@pytest.fixture
def own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shared_objects, "_root_with_room", lambda size_bytes: str(tmp_path))
    return tmp_path / f"overtone-objects-{os.getuid()}"


def test_the_files_of_the_dead_go_and_those_of_the_living_stay(own_root: Path) -> None:
    living, dead = shared_objects._Shelf(), own_root / "1-dead"
    kept = shared_objects._write([b"x"], living.new_file(1))
    dead.mkdir()
    (dead / "000001").write_bytes(b"y")
    other = shared_objects._Shelf()
    other.new_file(1)
    assert not dead.exists()
    assert Path(kept.path).exists()
    other.clear()
    living.clear()
    assert [path.name for path in own_root.iterdir() if path.is_dir()] == []


def test_a_fork_does_not_clear_what_its_parent_put(own_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = shared_objects._Shelf()
    kept = shared_objects._write([b"x"], shelf.new_file(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 1)
        shelf.clear()
    assert Path(kept.path).exists()
    shelf.clear()
    assert not Path(kept.path).exists()


def test_a_directory_of_somebody_else_is_refused(own_root: Path) -> None:
    own_root.symlink_to(own_root.parent)
    with pytest.raises(StorageError, match="belongs to user"):
        shared_objects._Shelf().new_file(1)


def test_without_room_in_shared_memory_a_file_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert shared_objects._root_with_room(1 << 60) == str(tmp_path)


def test_an_object_of_another_machine_is_there_until_the_last_who_adopted_it_gives_it_up(
    tmp_path: Path,
) -> None:
    contents = Path(shared_objects.put({"x": 7}).path).read_bytes()
    path = tmp_path / "yard" / "77-abc" / "000001"  # where the other machine had it
    fetched = []

    def write(target: Path) -> None:
        fetched.append(1)
        target.write_bytes(contents)

    first, second = shared_objects._Shelf(), shared_objects._Shelf()
    first.adopt(path, write)
    second.adopt(path, write)
    assert len(fetched) == 1
    assert shared_objects.get(shared_objects.ObjectRef(str(path))) == {"x": 7}
    first.release()
    assert shared_objects.get(shared_objects.ObjectRef(str(path))) == {"x": 7}
    second.release()
    assert not path.parent.exists()


def test_processes_that_adopt_an_object_at_the_same_time_bring_one_copy(tmp_path: Path) -> None:
    path, news = tmp_path / "yard" / "77-abc" / "000001", tmp_path / "brought"

    def write(target: Path) -> None:
        with news.open("a") as file:
            file.write("once\n")
        time.sleep(0.05)  # the others come meanwhile
        target.touch()

    read, done = os.pipe()
    pids = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                shared_objects._Shelf().adopt(path, write)
            finally:
                os.write(done, b"!")
                signal.pause()  # holds it until the others have it
        pids.append(pid)
    for _ in pids:
        os.read(read, 1)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(read)
    os.close(done)
    assert news.read_text() == "once\n"


def test_without_room_for_an_object_nothing_is_left(tmp_path: Path) -> None:
    path, shelf = tmp_path / "yard" / "77-abc" / "000001", shared_objects._Shelf()

    def write(target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="cannot hold a large parameter: No space left on device"):
        shelf.adopt(path, write)
    assert sorted(one.name for one in path.parent.iterdir()) == [".adopting", ".lock"]
    shelf.release()
    assert not path.parent.exists()


def test_who_put_an_object_is_the_one_to_delete_it() -> None:
    ref = shared_objects.put("mine")
    other = shared_objects._Shelf()
    other.adopt(Path(ref.path), Path.touch)
    other.release()
    assert shared_objects.get(ref) == "mine"


def test_what_a_killed_process_had_adopted_goes_with_the_next(tmp_path: Path) -> None:
    left = tmp_path / "yard" / "66-left"
    left.mkdir(parents=True)
    (left / "000001").touch()
    shelf = shared_objects._Shelf()
    shelf.adopt(tmp_path / "yard" / "77-abc" / "000001", Path.touch)
    assert not left.exists()
    shelf.release()
