"""The addresses at which a dashboard listens, and the names by which browsers may ask for it."""

from __future__ import annotations

import errno
import ipaddress
import socket

from overtone.errors import ArgumentError

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8470
"""The port that is tried first."""

_TRIED = 50
_WILDCARDS = frozenset({"0.0.0.0", "::", ""})


def listen(host: str = LOOPBACK, port: int | None = None) -> socket.socket:
    """Return a listening socket.

    Args:
        host: A name or an IP address.
        port: The port; 0 for any free one. None tries `FIRST_PORT` and the ports after it.

    Raises:
        ArgumentError: The port is taken, the host is unknown, or no port is free.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host or None, port or 0, type=socket.SOCK_STREAM,
                                                      flags=socket.AI_PASSIVE)[0]  # fmt: skip
    except (OSError, UnicodeError) as error:
        raise ArgumentError(f"--host {host}: {getattr(error, 'strerror', None) or error}") from None
    tried = range(FIRST_PORT, FIRST_PORT + _TRIED) if port is None else [port]
    for one in tried:
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address[0], one, *address[2:]))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            if port is None and error.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            raise ArgumentError(
                f"port {one} of {host} cannot be used: {error.strerror}; choose another --port"
            ) from None
    raise ArgumentError(f"the ports {tried[0]} to {tried[-1]} of {host} are taken: choose one with --port")


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine reach a server at this host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_of(host: str) -> frozenset[str]:
    """Return the names for this host in a Host header, in lower case.

    A server at all addresses of the machine has the names and the addresses of the machine. An address is
    safe: only a name can be made to point elsewhere.
    """
    if host not in _WILDCARDS:
        return frozenset({_in_header(host)})
    import psutil

    addresses = {
        one.address.partition("%")[0]
        for interface in psutil.net_if_addrs().values()
        for one in interface
        if one.family in (socket.AF_INET, socket.AF_INET6)
    }
    machine = {socket.gethostname(), socket.getfqdn()} - {""}
    return frozenset(map(_in_header, addresses | machine))


def address_of(listener: socket.socket, host: str) -> str:
    """Return the address to be opened in a browser."""
    port = listener.getsockname()[1]
    name = socket.gethostname() if host in _WILDCARDS else host
    return f"http://{_in_header(name)}:{port}/"


def _in_header(name: str) -> str:
    return f"[{name}]".lower() if ":" in name else name.lower()
