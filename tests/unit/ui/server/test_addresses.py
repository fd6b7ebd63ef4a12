"""Where the dashboard listens, and by which names it is asked for."""

import socket

import pytest

from overtone.errors import ArgumentError
from overtone.ui.server import addresses
from overtone.ui.server.addresses import address_of, is_loopback, listen, names_of


def test_a_taken_port_is_skipped_unless_it_was_asked_for(monkeypatch):
    with listen(port=0) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(addresses, "FIRST_PORT", port)
        with listen() as next_free:
            assert port < next_free.getsockname()[1] < port + 50
        with pytest.raises(ArgumentError, match=f"port {port} of 127.0.0.1 cannot be used: .*in use"):
            listen(port=port)
        monkeypatch.setattr(addresses, "_TRIED", 1)
        with pytest.raises(ArgumentError, match="are taken"):
            listen()


def test_unknown_hosts():
    for host in ("no such host", "256.1.1.1", "a" * 300):
        with pytest.raises(ArgumentError, match="--host"):
            listen(host)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.9.9.9", True), ("0.0.0.0", False), ("::", False),
     ("box", False), ("10.0.0.1", False), ("127.0.0.1.example", False)],
)  # fmt: skip
def test_which_hosts_only_this_machine_reaches(host, expected):
    assert is_loopback(host) is expected


def test_names():
    assert names_of("Box.example") == {"box.example"}
    assert names_of("fe80::1") == {"[fe80::1]"}
    everywhere = names_of("0.0.0.0")
    assert {"127.0.0.1", socket.gethostname().lower()} <= everywhere
    assert "" not in everywhere


def test_the_address_to_open():
    with listen(port=0) as one:
        assert address_of(one, "127.0.0.1") == f"http://127.0.0.1:{one.getsockname()[1]}/"
        assert address_of(one, "0.0.0.0").startswith(f"http://{socket.gethostname().lower()}:")
