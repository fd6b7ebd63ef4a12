"""Copies and tunnels over a stand-in for ssh that runs the commands on this machine, in another home."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from overtone.cluster.remote import LONGEST_LINE, UnreachableError, last_lines
from overtone.cluster.ssh_remote import SSHRemote

SSH = """#!/bin/bash
while [ $# -gt 0 ]; do
  case "$1" in -o|-i|-p|-l|-L|-O) shift 2;; -*) shift;; *) break;; esac
done
shift  # the host
cd "$HOME" && echo -n "$NOISE" && exec bash -c "$*"
"""

pytestmark = pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")


@pytest.fixture
def remote(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "ssh", SSH)
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    return SSHRemote("host", known_hosts=tmp_path / "known hosts")


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / name).write_text(text)
    (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")


@pytest.mark.parametrize("name", ["a b", "it's", 'a"b', "$HOME", "-x", "a:b", "a;b", "a[1]", "a*", "é"])
def test_a_copy_of_any_name_goes_there_and_back(remote, name, tmp_path):
    Path(name).mkdir()
    Path(name, name).write_text("1")
    remote.put(Path(name), f"~/to/{name}")
    assert (tmp_path / "home" / "to" / name / name).read_text() == "1"
    remote.put(Path(name, name), f"~/file/{name}")
    assert (tmp_path / "home" / "file" / name).read_text() == "1"
    shutil.rmtree(name)
    for other in ("to/a1", "to/ab c", "file/a1", "file/ab c"):  # A pattern in the name must not match others.
        (tmp_path / "home" / other).mkdir()
        (tmp_path / "home" / other / "other").touch()
    remote.get(f"~/to/{name}/", Path(name))
    assert os.listdir(name) == [name]
    assert Path(name, name).read_text() == "1"
    remote.put(Path(name), f"~/to/{name}")
    shutil.rmtree(name)
    remote.get(f"~/file/{name}", Path(name))
    assert Path(name).read_text() == "1"


def test_the_home_itself_is_not_the_root(remote, tmp_path):
    (tmp_path / "home" / "notes").touch()
    remote.get("~/", Path("copy"))
    assert os.listdir("copy") == ["notes"]


def test_a_command_that_starts_while_its_host_is_abandoned_is_not_waited_for(remote, monkeypatch):
    """Ctrl-C abandons the host between the check of a command and its start, in another thread."""

    class Popen(subprocess.Popen):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            if not remote._is_abandoned:
                remote.abandon()

    monkeypatch.setattr("overtone.cluster.ssh_remote.subprocess.Popen", Popen)
    with pytest.raises(UnreachableError, match="interrupted"):
        remote.run("sleep 1000", timeout_s=2000.0)


def test_a_file_that_vanishes_during_a_copy_is_not_an_error(remote, tmp_path, monkeypatch):
    real = shutil.which("rsync")
    program(tmp_path, monkeypatch, "rsync", f'#!/bin/sh\n{real} "$@"\nexit 24\n')
    (tmp_path / "home" / "run").mkdir()
    (tmp_path / "home" / "run" / "kept").touch()
    remote.get("~/run/", Path("run"))
    assert os.listdir("run") == ["kept"]


def test_a_command_reads_an_open_file(remote, tmp_path):
    (tmp_path / "given").write_bytes(b"x" * 300_000)
    said = []
    with (tmp_path / "given").open("rb") as given:
        assert remote.stream("wc -c; exit 3", said.append, given.fileno()) == 3
    assert b"".join(said).strip() == b"300000"
    assert remote.stream("cat", said.append) == 0  # nothing, and no wait


CHANGED = """
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
The fingerprint for the ED25519 key sent by the remote host is
SHA256:cbA7ncQVxyUeOqgEQ6yGRqzBTEhhYvi/lIuzGCC8W1M.
Please contact your system administrator.
Add correct host key in /home/me/.overtone/clusters/c/known_hosts to get rid of this message.
Offending ED25519 key in /home/me/.overtone/clusters/c/known_hosts:2
  remove with:
  ssh-keygen -f '/home/me/.overtone/clusters/c/known_hosts' -R 'host'
Host key for host has changed and you have requested strict checking.
Host key verification failed.
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_changed_host_key_is_named_with_the_place_of_the_old_one(remote, tmp_path, monkeypatch, end):
    (tmp_path / "said").write_bytes(CHANGED.replace("\n", end).encode())
    program(tmp_path, monkeypatch, "ssh", f"#!/bin/sh\ncat {tmp_path / 'said'} >&2; exit 255\n")
    with pytest.raises(UnreachableError) as caught:
        remote.run("true")
    said = str(caught.value)
    assert "its ED25519 host key is another one than before" in said
    assert "It is now SHA256:cbA7ncQVxyUeOqgEQ6yGRqzBTEhhYvi/lIuzGCC8W1M. If" in said
    assert "delete line 2 of /home/me/.overtone/clusters/c/known_hosts, which has the old key" in said


def test_a_tunnel_through_a_shell_that_prints(remote, monkeypatch):
    monkeypatch.setenv("NOISE", "welcome\n\n")
    with remote.forward(80) as port:
        assert port > 1023


def test_what_a_shell_prints_before_a_command_is_not_its_output(remote, monkeypatch):
    monkeypatch.setenv("NOISE", "welcome\n" + "x" * 100_000)  # the last line has no end
    done = remote.run("printf 'one\ntwo'")
    assert (done.status, done.output) == (0, b"one\ntwo")
    assert remote.noise.startswith(b"welcome\nxxx")
    monkeypatch.setenv("NOISE", "")
    assert remote.check("echo one") == "one"
    assert remote.noise == b""


def test_a_line_without_an_end_does_not_fill_the_screen():
    assert last_lines(b"x" * 1_000_000 + b" the error\n") == f"\n  ... {('x' * 1000 + ' the error')[-LONGEST_LINE:]}"
