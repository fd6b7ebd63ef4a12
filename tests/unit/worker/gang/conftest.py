"""What tests of gangs need."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from overtone.testing.forked_ranks import ForkedRanks
from overtone.worker.gang import wire
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.hub import Hub

MakeGang = Callable[..., Gang]


@pytest.fixture
def make_gang() -> Iterator[MakeGang]:
    """Starts gangs of forks, which end with the test; `gang.forks` is their host."""
    gangs: list[Gang] = []

    def make(num_workers: int = 2, *, timeout_s: float = 100.0, **options: object) -> Gang:
        host = ForkedRanks()
        gang = Gang(host, num_workers, timeout_s=timeout_s, **options)  # type: ignore[arg-type]
        vars(gang)["forks"] = host
        gangs.append(gang)
        gang.start()
        return gang

    yield make
    for gang in gangs:
        gang.shutdown(force=True)
        assert not vars(gang)["forks"].pids


class RawRank:
    """A rank's end of a connection, byte by byte."""

    def __init__(self, hub: Hub) -> None:
        host, _, port = hub.address.rpartition(":")
        self.hub = hub
        self.sock = socket.create_connection((host, int(port)), timeout=60)
        self.asked = b""

    def hello(self, token: str = "secret", generation: int = 0, rank: int = 0) -> bytes:
        """Return the answer to the hub's challenge, which is read first."""
        while not self.asked:
            self.hub.poll(0.05)
            self.sock.settimeout(0.01)
            try:
                self.asked = self.sock.recv(wire.CHALLENGE_BYTES)
            except TimeoutError:
                pass
        self.sock.settimeout(60)
        return wire.hello(token, self.asked, generation, rank, b"n" * wire.NONCE_BYTES)

    def connect(self, **said: object) -> RawRank:
        """Complete the handshake."""
        self.sock.sendall(self.hello(**said))  # type: ignore[arg-type]
        return self


@pytest.fixture
def hub() -> Iterator[Hub]:
    """The hub of a gang of two, whose token is "secret"."""
    made = Hub("127.0.0.1", "secret", 0, 2)
    yield made
    made.close()


@pytest.fixture
def raw_rank(hub: Hub) -> Iterator[Callable[[], RawRank]]:
    """Makes connections to the hub."""
    made: list[RawRank] = []

    def make() -> RawRank:
        made.append(RawRank(hub))
        return made[-1]

    yield make
    for one in made:
        one.sock.close()
