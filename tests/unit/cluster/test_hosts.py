"""All hosts of a cluster at once: the errors of several are one message."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from overtone.cluster.config_reading import parse_config
from overtone.cluster.local.hosts import Hosts
from overtone.cluster.remote import Finished, RemoteError, UnreachableError

pytest.importorskip("yaml")

TEXT = "name: lab\nprovider: {type: local, hosts: [a, b, c], user: ada}\n"


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    return Hosts(parse_config(TEXT, Path("c.yaml")), tmp_path)


def fail(hosts: Hosts, errors: dict[str, Exception]) -> str:
    def do(address: str, _: object) -> None:
        raise errors[address]

    with pytest.raises(RemoteError) as raised:
        hosts.each(do)
    return str(raised.value)


def test_hosts_with_the_same_error_share_a_line(hosts):
    errors = {name: RemoteError(f"ada@{name}: Overtone is missing") for name in "abc"}
    assert fail(hosts, errors) == "ada@a, ada@b, ada@c: Overtone is missing"


def test_other_errors_keep_their_lines(hosts):
    errors = {
        "a": RemoteError("ada@a: Overtone is missing"),
        "b": UnreachableError("ada@b does not answer"),
        "c": RemoteError("ada@c: Overtone is missing"),
    }
    lines = fail(hosts, errors).splitlines()
    assert sorted(lines) == ["ada@a, ada@c: Overtone is missing", "ada@b does not answer"]


def test_a_host_that_is_too_slow_for_its_facts_is_named(hosts, monkeypatch):
    monkeypatch.setattr(hosts["a"], "run", lambda *_, **__: Finished(124, b"", b""))
    with pytest.raises(RemoteError, match="ada@a: no facts within 60 s; is it overloaded"):
        hosts.facts("a")


@pytest.mark.skipif(sys.platform == "win32", reason="clusters are not started from Windows")
def test_a_second_ctrl_c_leaves_no_command_to_be_waited_for(hosts, monkeypatch):
    begun, abandoned = threading.Barrier(4), {address: threading.Event() for address in "abc"}

    presses = [signal.SIGINT]

    def abandon(address: str) -> None:
        if presses:
            os.kill(os.getpid(), presses.pop())  # while all are to be abandoned
            time.sleep(0.05)
        abandoned[address].set()

    for address in "abc":
        monkeypatch.setattr(hosts[address], "abandon", lambda address=address: abandon(address))

    def do(address: str, _: object) -> bool:
        begun.wait(60)
        return abandoned[address].wait(60)

    def press() -> None:
        begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        hosts.each(do)
    assert all(one.is_set() for one in abandoned.values())
