"""The head's side of the connections: whom it accepts, and what cannot make it wait."""

from __future__ import annotations

import pickle
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from overtone.worker.frames import framed
from overtone.worker.gang import hub as hub_module
from overtone.worker.gang import wire
from overtone.worker.gang.hub import Hub

MakeRank = Callable[[], Any]


def polled(hub: Hub, until: Callable[[], bool] = lambda: False, times: int = 2000) -> list[Any]:
    """Return what `hub` hears until something was heard, or `until` holds."""
    for _ in range(times):
        found = hub.poll(0.05)
        if found or until():
            return found
    raise AssertionError("nothing came")


def connected(hub: Hub, make: MakeRank, rank: int) -> Any:
    raw = make().connect(rank=rank)
    assert polled(hub) == [(rank, ("connected",))]
    assert raw.sock.recv(wire.WELCOME_BYTES)[:1] == b"\x01"
    return raw


def is_closed(raw: Any) -> bool:
    """Return whether the hub has closed a connection."""
    try:
        while raw.sock.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


def test_ranks_connect_and_talk(hub: Hub, raw_rank: MakeRank) -> None:
    first, second = connected(hub, raw_rank, 0), connected(hub, raw_rank, 1)
    assert hub.missing == []
    second.sock.sendall(wire.frame(("alive", False)))
    assert polled(hub) == [(1, ("alive", False))]
    hub.send_to_all(("verdict", None, False))
    for raw in (first, second):
        assert wire.frame_reader().feed(raw.sock.recv(1000)) == [("verdict", None, False)]


def test_a_silent_stranger_keeps_nobody_waiting(hub: Hub, raw_rank: MakeRank) -> None:
    strangers = [raw_rank() for _ in range(5)]
    connected(hub, raw_rank, 0)
    for stranger in strangers:
        assert stranger.sock.recv(wire.CHALLENGE_BYTES)  # the hub told them how to begin, and no more
    assert hub.missing == [1]


def test_a_stranger_has_so_much_time(hub: Hub, raw_rank: MakeRank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "HANDSHAKE_S", 0.0)
    stranger = raw_rank()
    polled(hub, lambda: not hub._strangers)
    assert is_closed(stranger)


def test_only_so_many_strangers_are_kept(
    hub: Hub, raw_rank: MakeRank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MOST_STRANGERS", 3)
    strangers = [raw_rank() for _ in range(6)]
    for _ in strangers:
        hub.poll(1.0)
    assert len(hub._strangers) == 3
    assert is_closed(strangers[0])
    connected(hub, raw_rank, 0)


def test_a_handshake_may_come_byte_by_byte(hub: Hub, raw_rank: MakeRank) -> None:
    raw = raw_rank()
    for byte in raw.hello(rank=1):
        raw.sock.sendall(bytes([byte]))
        found = hub.poll(0.05)
    assert (found or polled(hub)) == [(1, ("connected",))]


@pytest.mark.parametrize(
    "said", [{"generation": 1}, {"rank": 2}, {"rank": 0}], ids=["other generation", "no such rank", "taken"]
)
def test_a_rank_without_a_place_is_told_so(hub: Hub, raw_rank: MakeRank, said: dict[str, int]) -> None:
    connected(hub, raw_rank, 0)
    raw = raw_rank().connect(**said)
    polled(hub, lambda: not hub._strangers)
    assert raw.sock.recv(wire.WELCOME_BYTES)[:1] == b"\x00"
    assert hub.missing == [1]


def test_without_the_token_nothing_is_read(hub: Hub, raw_rank: MakeRank) -> None:
    raw = raw_rank()
    raw.sock.sendall(raw.hello(token="guess", rank=0) + framed(pickle.dumps(("alive", False))))
    polled(hub, lambda: not hub._strangers)
    assert is_closed(raw)
    assert hub.missing == [0, 1]


def test_half_a_frame_of_a_megabyte_waits_for_the_rest(hub: Hub, raw_rank: MakeRank) -> None:
    first, second = connected(hub, raw_rank, 0), connected(hub, raw_rank, 1)
    data = wire.frame(("returned", bytes(2 << 20)))
    first.sock.settimeout(0.05)
    n_sent = 0
    while n_sent < 1 << 20:
        try:
            n_sent += first.sock.send(data[n_sent : 1 << 20])
        except TimeoutError:
            pass
        assert hub.poll(0.0) == []
    second.sock.sendall(wire.frame(("alive", False)))
    assert polled(hub) == [(1, ("alive", False))]
    first.sock.close()
    polled(hub, lambda: 0 in hub.lost)
    assert "closed" in hub.lost[0]


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", framed(b"no pickle")])
def test_what_is_not_a_message_ends_a_connection(hub: Hub, raw_rank: MakeRank, data: bytes) -> None:
    raw = connected(hub, raw_rank, 0)
    raw.sock.sendall(data)
    polled(hub, lambda: 0 in hub.lost)
    assert "not a message" in hub.lost[0]
    hub.send(0, ("shutdown",))  # nobody to send to, and no error


def test_a_rank_that_does_not_read_keeps_nobody_waiting(hub: Hub, raw_rank: MakeRank) -> None:
    first, second = connected(hub, raw_rank, 0), connected(hub, raw_rank, 1)
    hub.send(0, ("call", bytes(8 << 20)))
    hub.send(1, ("environment", {}))
    assert wire.frame_reader().feed(second.sock.recv(1000)) == [("environment", {})]
    reader, found = wire.frame_reader(), []
    first.sock.settimeout(0.001)
    while not found:
        hub.poll(0.0)
        try:
            found = reader.feed(first.sock.recv(1 << 20))
        except TimeoutError:
            pass
    assert len(found[0][1]) == 8 << 20


def test_a_stream_is_made_as_the_connection_takes_it(hub: Hub, raw_rank: MakeRank) -> None:
    raw = connected(hub, raw_rank, 0)
    made: list[int] = []

    def messages() -> Any:
        for number in range(100):
            made.append(number)
            yield ("data", bytes(1 << 20))

    hub.stream(0, messages())
    assert len(made) < 50  # the buffers of the system take a few
    reader, n_found = wire.frame_reader(), 0
    raw.sock.settimeout(0.001)
    while n_found < 100:
        hub.poll(0.0)
        try:
            n_found += len(reader.feed(raw.sock.recv(1 << 20)))
        except TimeoutError:
            pass


def test_silence_counts_only_while_the_head_listens(
    hub: Hub, raw_rank: MakeRank, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected(hub, raw_rank, 0)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    hub.poll(0.0)
    now += 1.5
    hub.poll(0.0)
    assert hub.silence_s(0) >= 1.5
    now += 1000.0  # the head did something else
    hub.poll(0.0)
    assert hub.silence_s(0) == 0.0


def test_the_end_of_listening_closes_the_port(hub: Hub, raw_rank: MakeRank) -> None:
    connected(hub, raw_rank, 0)
    stranger = raw_rank()
    polled(hub, lambda: bool(hub._strangers))
    hub.stop_listening()
    assert is_closed(stranger)
    with pytest.raises(ConnectionRefusedError):
        raw_rank()
    hub.close()
    hub.close()


def test_random_bytes_of_strangers_hurt_nobody(hub: Hub, raw_rank: MakeRank) -> None:
    draw = random.Random(3)
    for _ in range(60):
        raw = raw_rank()
        begin = raw.hello() if draw.random() < 0.5 else b""
        raw.sock.sendall(begin[: draw.randrange(len(begin) + 1)] + draw.randbytes(draw.randrange(300)))
        hub.poll(0.0)
        if draw.random() < 0.5:
            raw.sock.close()
    connected(hub, raw_rank, 1)
    assert hub.missing == [0]
    assert hub.lost == {}


def test_random_bytes_of_a_rank_end_its_connection_alone(hub: Hub, raw_rank: MakeRank) -> None:
    connected(hub, raw_rank, 1)
    raw = connected(hub, raw_rank, 0)
    raw.sock.sendall(random.Random(3).randbytes(10_000))
    polled(hub, lambda: bool(hub.lost))
    assert set(hub.lost) == {0}
