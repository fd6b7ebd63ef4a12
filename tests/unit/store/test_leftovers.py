"""What killed processes leave, and what is the user's."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import psutil
import pytest

from overtone.store.files import RemoteFiles
from overtone.store.leftovers import LocalLeftovers, RemoteLeftovers
from overtone.store.local import MANIFEST, METADATA_FILE, LocalStore
from overtone.store.remote import RemoteStore

pytest.importorskip("fsspec")

TRIAL = "a9c1c_00001"
DEAD = 2**22 + 1  # above the largest pid


def saved(folder: Path, t: int = 1, trial: str = TRIAL) -> Path:
    folder.mkdir(parents=True)
    (folder / "weights").write_bytes(b"0123")
    (folder / ".overtone.json").write_text(json.dumps({"t": t, "trial": trial, "attempt": 0}))
    return folder


def names(found) -> set[str]:
    return {one.key.partition("/")[2] for one in found}


@pytest.fixture
def root(tmp_path) -> Path:
    store = LocalStore(tmp_path / "exp", durable=False)
    for t in (1, 2):
        store.put(saved(tmp_path / f"source{t}", t), f"{TRIAL}/checkpoint_{t:06d}")
    return store.root


@pytest.mark.parametrize(
    "name",
    [
        f".put-checkpoint_000003-{DEAD}-0123abcd",
        f".put-checkpoint_000003_a2_f3-{DEAD}-0123abcd",
        f".deleted-checkpoint_000003-{DEAD}-0123abcd",
        f".saving_{DEAD}_0123456789ab",
    ],
)
def test_parts_of_saves_whose_process_is_gone_are_found_and_removed(root, name) -> None:
    saved(root / TRIAL / name)
    finder = LocalLeftovers(root)
    (found,) = finder.find(None)
    assert names([found]) == {name}
    assert found.size_bytes > 4
    assert found.is_ours
    assert finder.find(None, ["a9c1c_00002"]) == []
    finder.remove(found)
    assert finder.find(None) == []


def test_what_a_process_still_writes_is_left_alone(root) -> None:
    saved(root / TRIAL / f".put-checkpoint_000003-{os.getpid()}-0123abcd")
    saved(root / TRIAL / f".put-checkpoint_000004-{DEAD}-0123abcd")
    assert names(LocalLeftovers(root).find(None)) == {f".put-checkpoint_000004-{DEAD}-0123abcd"}
    assert LocalLeftovers(root, settle_s=60.0).find(None) == []  # it may be of another machine
    for path in (root / TRIAL / f".put-checkpoint_000004-{DEAD}-0123abcd").rglob("*"):
        os.utime(path, (0, time.time() - 61))
    os.utime(path.parent, (0, time.time() - 61))
    assert len(LocalLeftovers(root, settle_s=60.0).find(None)) == 1


def test_a_later_process_of_the_same_number_keeps_no_leftover(root) -> None:
    folder = saved(root / TRIAL / f".put-checkpoint_000003-{os.getpid()}-0123abcd")
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (0, psutil.Process().create_time() - 60))
    assert names(LocalLeftovers(root).find(None)) == {folder.name}


@pytest.mark.parametrize(
    "name",
    [
        "checkpoint_best",
        ".put-mine",
        ".hidden",
        "data",
        ".saving_mine",
        "checkpoint_000003-copy",
        "checkpoint_3",
    ],
)
def test_what_has_another_name_is_the_users(root, name) -> None:
    saved(root / TRIAL / name)
    saved(root / "mine" / f".put-checkpoint_000003-{DEAD}-0123abcd")
    assert not names(LocalLeftovers(root).find(frozenset())) - {"checkpoint_000001", "checkpoint_000002"}


def test_whole_ones_that_nobody_names_are_found(root) -> None:
    (found,) = LocalLeftovers(root).find(frozenset({f"{TRIAL}/checkpoint_000001"}))
    assert (found.key, found.is_whole, found.is_damaged) == (f"{TRIAL}/checkpoint_000002", True, False)
    assert found.state["t"] == 2
    (root / TRIAL / "checkpoint_000002" / "weights").unlink()
    (found,) = LocalLeftovers(root).find(frozenset({f"{TRIAL}/checkpoint_000001"}))
    assert found.is_damaged


@pytest.mark.parametrize("facts", [{"t": 1}, {"trial": "a9c1c_00002"}])
def test_a_copy_that_a_user_made_of_a_checkpoint_is_the_users(root, tmp_path, facts) -> None:
    state = {"t": 3, "trial": TRIAL, **facts}
    source = saved(tmp_path / "source")
    (source / ".overtone.json").write_text(json.dumps(state))
    LocalStore(root).put(source, f"{TRIAL}/checkpoint_000003")
    found = {one.key: one for one in LocalLeftovers(root).find(frozenset())}
    assert not found[f"{TRIAL}/checkpoint_000003"].is_ours
    assert found[f"{TRIAL}/checkpoint_000002"].is_ours


def test_one_whose_metadata_changed_after_it_was_put_is_whole(root, tmp_path) -> None:
    source = saved(tmp_path / "noted", 3)
    (source / METADATA_FILE).write_text("{}")
    uri = LocalStore(root, durable=False).put(source, f"{TRIAL}/checkpoint_000003")
    Path(uri, METADATA_FILE).write_text('{"epoch": 3}')
    assert [one.is_damaged for one in LocalLeftovers(root).find(frozenset())] == [False] * 3
    Path(uri, "weights").write_bytes(b"012")
    assert [one.is_damaged for one in LocalLeftovers(root).find(frozenset())].count(True) == 1


def test_a_folder_of_that_name_without_a_manifest_is_the_users(root) -> None:
    saved(root / TRIAL / "checkpoint_000003")
    assert f"{TRIAL}/checkpoint_000003" not in {one.key for one in LocalLeftovers(root).find(frozenset())}


def test_links_are_not_followed(root, tmp_path) -> None:
    saved(tmp_path / "elsewhere" / f".put-checkpoint_000003-{DEAD}-0123abcd")
    (root / "a9c1c_00002").symlink_to(tmp_path / "elsewhere")
    (root / TRIAL / f".put-checkpoint_000004-{DEAD}-0123abcd").symlink_to(tmp_path / "elsewhere")
    assert LocalLeftovers(root).find(None) == []


# --- at a URL ---------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path) -> RemoteFiles:
    store = RemoteStore(f"memory:/{tmp_path}/exp", cache=tmp_path / "cache")
    for t in (1, 2, 3):
        store.put(saved(tmp_path / f"source{t}", t), f"{TRIAL}/checkpoint_{t:06d}")
    store.files.remove([f"{TRIAL}/checkpoint_000003/{MANIFEST}"])  # as a killed put, or delete, leaves it
    store.files.write(f"{TRIAL}/result.json", b"{}")
    store.files.write("mine/checkpoint_000001/x", b"x")
    store.files.write(f"{TRIAL}/checkpoint_000009/x", b"x")  # of a user's: nobody says who saved it
    return store.files


def test_unfinished_ones_at_a_url_are_found_and_removed(files) -> None:
    finder = RemoteLeftovers(files, 1)
    before = set(files.sizes())
    (found,) = [one for one in finder.find(None) if one.is_ours]
    assert (found.key, found.is_whole) == (f"{TRIAL}/checkpoint_000003", False)
    assert found.size_bytes > 4
    finder.remove(found)
    assert before - set(files.sizes()) == {
        f"{TRIAL}/checkpoint_000003/{name}" for name in ("weights", ".overtone.json")
    }


def test_whole_ones_at_a_url_that_nobody_names_are_found(files, tmp_path) -> None:
    RemoteStore(files.url, fence=3).put(saved(tmp_path / "source", 4), f"{TRIAL}/checkpoint_000004_a2")
    found = RemoteLeftovers(files, 3).find(frozenset({f"{TRIAL}/checkpoint_000001"}))
    whole = {one.key.partition("/")[2]: one for one in found if one.is_whole}
    assert {name: (one.fence, one.is_damaged) for name, one in whole.items()} == {
        "checkpoint_000002": (1, False),
        "checkpoint_000004_a2_f3": (3, False),
    }
    files.write(f"{TRIAL}/checkpoint_000002/weights", b"")
    found = RemoteLeftovers(files, 3).find(frozenset({f"{TRIAL}/checkpoint_000001"}))
    assert [one.is_damaged for one in found if one.is_whole] == [True, False]


def test_nothing_is_removed_once_the_lease_is_lost(files) -> None:
    files.write("lease/000002.json", b"{}")
    finder = RemoteLeftovers(files, 1)
    before = files.sizes()
    with pytest.raises(Exception, match="taken over"):
        finder.remove(finder.find(None)[0])
    assert files.sizes() == before
