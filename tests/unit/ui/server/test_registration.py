"""One server for a folder: who registers, who finds it, and what is in the way."""

import os
import stat
import threading

import pytest

from overtone.ui.server import registration
from overtone.ui.server.registration import KnownServer, Registration, registered

SERVER = KnownServer("http://127.0.0.1:8470/", "t" * 43, 123)


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def yes(server):
    return True


def test_the_first_registers_and_the_second_finds_it(tmp_path):
    first = registered(str(tmp_path))
    assert isinstance(first, Registration)
    first.note(SERVER)
    assert registered(str(tmp_path), answers=yes) == SERVER
    other = registered(str(tmp_path / "other"))
    assert isinstance(other, Registration)
    other.close()
    first.close()
    third = registered(str(tmp_path))
    assert isinstance(third, Registration)
    third.close()


def test_the_file_is_private_and_forgets_the_token(tmp_path, runtime):
    first = registered(str(tmp_path))
    first.note(SERVER)
    (file,) = (runtime / "overtone").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert SERVER.token in file.read_text()
    first.close()
    assert file.read_text() == ""


def test_a_folder_has_one_server_by_whatever_path(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    first = registered(str(tmp_path / "folder"))
    first.note(SERVER)
    assert registered(str(tmp_path / "link"), answers=yes) == SERVER
    assert registered(f"{tmp_path}/other/../folder/", answers=yes) == SERVER
    first.close()


def test_two_that_begin_at_once_make_one_server(tmp_path):
    found, begin = [], threading.Barrier(8)

    def start():
        begin.wait()
        one = registered(str(tmp_path), answers=yes)
        if isinstance(one, Registration):
            one.note(SERVER)
        found.append(one)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (first,) = [one for one in found if isinstance(one, Registration)]
    assert found.count(SERVER) == 7
    first.close()


def test_the_file_of_a_killed_server_is_taken_over(tmp_path, runtime):
    first = registered(str(tmp_path))
    first.note(SERVER)
    os.close(first._fd)  # as the end of its process does
    second = registered(str(tmp_path), answers=lambda server: pytest.fail("the server is gone"))
    assert isinstance(second, Registration)
    (file,) = (runtime / "overtone").iterdir()
    assert file.read_text() == ""
    second.close()


def test_a_server_that_does_not_answer_is_left_alone(tmp_path):
    first = registered(str(tmp_path))
    first.note(SERVER)
    assert registered(str(tmp_path), 0, answers=lambda server: False) is None
    first.note(SERVER._replace(address="http://127.0.0.1:1/"))
    assert registered(str(tmp_path), 0) is None
    first.close()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"address": 1}', "null", "\0" * 99])
def test_a_damaged_file_names_no_server(tmp_path, runtime, text):
    first = registered(str(tmp_path))
    (file,) = (runtime / "overtone").iterdir()
    file.write_text(text)
    assert registered(str(tmp_path), 0, answers=yes) is None
    first.close()


def test_files_of_others_are_not_trusted(tmp_path, runtime):
    registered(str(tmp_path)).close()
    (file,) = (runtime / "overtone").iterdir()
    file.chmod(0o644)
    assert registered(str(tmp_path), 0) is None
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    assert registered(str(tmp_path), 0) is None
    assert not (tmp_path / "elsewhere").exists()
    file.unlink()
    os.mkfifo(file)
    assert registered(str(tmp_path), 0) is None


def test_without_a_place_to_write_there_is_no_registration(tmp_path, runtime, monkeypatch):
    (runtime / "overtone").write_text("a file")
    assert registered(str(tmp_path), 0) is None
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    (tmp_path / "cache").write_text("a file")
    assert registered(str(tmp_path), 0) is None


def test_none_waits_for_a_server_that_cannot_say_where_it_is(tmp_path, monkeypatch):
    def is_full(*_):
        raise OSError(28, "No space left on device")

    first = registered(str(tmp_path))
    monkeypatch.setattr(registration.os, "pwrite", is_full)
    first.note(KnownServer("http://127.0.0.1:1/", "t", 1))
    second = registered(str(tmp_path), patience_s=0.0)
    assert isinstance(second, Registration)
    second.close()
    first.close()


def test_without_a_runtime_folder_it_is_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "nowhere"))
    assert registration.runtime_folder() == tmp_path / "cache" / "overtone" / "run"
    registered(str(tmp_path)).close()
    assert len(list((tmp_path / "cache" / "overtone" / "run").iterdir())) == 1
