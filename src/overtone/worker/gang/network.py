"""Addresses and network interfaces of hosts, and whether two processes share a host."""

from __future__ import annotations

import os
import socket
import struct
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

LOOPBACK = "127.0.0.1"

_REQUEST_BYTES = 40  # a struct ifreq
_SIOCGIFADDR = 0x8915 if sys.platform == "linux" else 0xC0206921


def address_for(hosts: list[str]) -> str:
    """Return this host's address that all of `hosts` reach: loopback if they are this host alone.

    Args:
        hosts: Names or addresses, this host's first. "name#2" is a second node on the host "name".
    """
    names = list(dict.fromkeys(host.partition("#")[0] for host in hosts))
    for name in names[1:]:
        with suppress(OSError):  # a name that this host does not know
            return _address_by_route(name)
    if len(names) <= 1:
        return LOOPBACK
    return _address_by_route(names[0])


def _address_by_route(host: str) -> str:
    """Return the address of this host from which packets to `host` leave; none is sent."""
    family, _, _, _, place = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect(place)
        return str(sock.getsockname()[0])


def interface_of(address: str) -> str:
    """Return the name of the network interface that has `address`, such as "lo"; "" if it is not found."""
    if ":" in address:
        return _interface_of_ipv6(address.partition("%")[0])
    with suppress(ImportError, OSError):
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _, name in socket.if_nameindex():
                request = struct.pack(f"{_REQUEST_BYTES}s", name.encode()[:15])
                with suppress(OSError):  # an interface without an address
                    answer = fcntl.ioctl(sock.fileno(), _SIOCGIFADDR, request)
                    if socket.inet_ntoa(answer[20:24]) == address:
                        return name
    return ""


def _interface_of_ipv6(address: str) -> str:
    with suppress(OSError):
        wanted = socket.inet_pton(socket.AF_INET6, address).hex()
        for line in Path("/proc/net/if_inet6").read_text().splitlines():
            fields = line.split()
            if fields[0] == wanted:
                return fields[-1]
    return ""


@cache
def this_host() -> str:
    """Return a text that processes have in common if, and only if, one kernel runs them."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    from uuid import getnode

    return f"{os.uname().nodename} {getnode():x}"


@cache
def this_pid_namespace() -> str:
    """Return a text that processes of one host have in common if they see each other's pids."""
    with suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""
