"""The folder of a cluster for temporary files: whose it is, and what its removal leaves."""

from __future__ import annotations

import json
import os
import sys

import pytest

from overtone.cluster.local import temporary_files
from overtone.cluster.local.temporary_files import folders, open_folder, remove
from overtone.cluster.run_folder import temporary_variables
from overtone.worker.checkpoints import held_folders

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Ray's nodes are not on Windows")


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A host whose temporary files are below tmp_path / "t"."""
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(temporary_files, "_LONGEST", 500)
    monkeypatch.setattr(temporary_files, "_SHARED_MEMORY", tmp_path / "t")
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    monkeypatch.setenv("OVERTONE_CLUSTER_FOLDER", str(tmp_path / "cluster"))
    (tmp_path / "cluster").mkdir()
    claim(tmp_path, "lab", "0123456789abcdef")
    return tmp_path


def claim(host, name, life):
    (host / "cluster" / "claim.json").write_text(json.dumps({"name": name, "id": life}))


def test_programs_use_the_folder_of_the_cluster(host):
    folder = host / "t" / "ot-01234567"
    assert open_folder("lab") == {"RAY_TMPDIR": str(folder), "TMPDIR": str(folder)} == temporary_variables()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert open_folder("lab") == temporary_variables()
    assert folders("lab") == [folder]


def test_the_removal_leaves_the_folders_of_other_clusters(host):
    open_folder("lab")
    (host / "t" / "ot-01234567" / "ray").mkdir()
    claim(host, "other", "fedcba98")
    open_folder("other")
    (host / "t" / "ot-deadbeef").mkdir()  # nobody knows whose
    remove("lab")
    assert folders("lab") == []
    assert sorted(os.listdir(host / "t")) == ["ot-deadbeef", "ot-fedcba98"]


def test_folders_of_earlier_lives_are_removed_too(host):
    open_folder("lab")
    claim(host, "lab", "fedcba98")
    open_folder("lab")
    assert len(folders("lab")) == 2
    remove("lab")
    assert os.listdir(host / "t") == []
    assert temporary_variables() == {}


def test_the_folder_is_found_although_logins_have_another_temporary_folder_now(host, monkeypatch):
    open_folder("lab")
    monkeypatch.setenv("TMPDIR", str(host / "elsewhere"))
    assert folders("lab") == [host / "t" / "ot-01234567"]


def test_a_full_disk_leaves_no_folder(host, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(temporary_files, "replace_file", fail)
    assert open_folder("lab") == {}
    assert os.listdir(host / "t") == []


def test_a_folder_of_somebody_else_is_neither_used_nor_removed(host):
    (host / "elsewhere").mkdir()
    (host / "t" / "ot-01234567").symlink_to(host / "elsewhere")
    assert open_folder("lab") == {}
    (host / "elsewhere" / "cluster").write_text("lab")
    remove("lab")
    assert (host / "elsewhere" / "cluster").exists()


def test_a_host_of_another_cluster_has_no_folder(host):
    assert open_folder("other") == {}
    assert os.listdir(host / "t") == []


def test_a_path_in_which_sockets_of_ray_have_no_room_is_not_used(host, monkeypatch):
    monkeypatch.setattr(temporary_files, "_LONGEST", 26)
    assert len(os.environ["TMPDIR"]) > 26
    assert open_folder("lab") == {}
    socket = f"{'x' * 26}/ot-01234567/ray/session_2026-11-28_23-50-55_607549_4194304/sockets/plasma_store"
    assert len(socket) <= 107


def test_what_killed_processes_left_in_shared_memory_goes_and_what_is_held_stays(host):
    yard = host / "t" / f"overtone-objects-{os.getuid()}"
    lock = held_folders.hold(yard / "held")
    (yard / "of-a-killed-process").mkdir()
    remove("lab")
    assert sorted(os.listdir(yard)) == [".lock", "held"]
    held_folders.let_go(yard / "held", lock)
