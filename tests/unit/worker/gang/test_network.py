"""Addresses of hosts, and the interfaces that have them."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from overtone.worker.gang.network import address_for, interface_of, this_host, this_pid_namespace


@pytest.mark.parametrize("hosts", [["here"], ["10.0.0.1", "10.0.0.1#2", "10.0.0.1"]])
def test_one_host_needs_loopback_alone(hosts: list[str]) -> None:
    assert address_for(hosts) == "127.0.0.1"


def test_the_route_to_another_host_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(host: str, *rest: object, **more: object) -> list[object]:
        if host != "other":
            raise socket.gaierror(f"{host} is unknown")
        return [(socket.AF_INET, socket.SOCK_DGRAM, 0, "", ("127.0.0.9", 9))]

    monkeypatch.setattr(socket, "getaddrinfo", known)
    assert address_for(["head", "unknown", "other"]) == "127.0.0.1"  # from which packets to 127.0.0.9 leave


@pytest.mark.skipif(sys.platform != "linux", reason="names of interfaces")
def test_interfaces() -> None:
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("192.0.2.77") == ""  # of an example network
    addresses = Path("/proc/net/if_inet6")
    if addresses.exists() and addresses.read_text():
        assert interface_of("::1") == "lo"
    assert interface_of("::dead") == ""


def test_processes_of_one_host_agree() -> None:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, f"{this_host.__wrapped__()} {this_pid_namespace.__wrapped__()}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 1000).decode() == f"{this_host()} {this_pid_namespace()}"
    os.close(read)
    os.close(write)
