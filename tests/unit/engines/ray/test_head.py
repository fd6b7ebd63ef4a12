"""The head is unreachable, or only slow."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from overtone.engines.ray.head import REFUSES_S, SILENT_S, Head, limit_s


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def address_of(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


def told_of(address: str, silences: list[float]) -> list[str]:
    """What is said after silences of so many seconds."""
    said: list[str] = []
    left = iter(silences)
    head = Head(address, lambda: time.monotonic() - next(left), said.append, Path("/results/run"))
    for _ in silences:
        head.check()
    return said


def test_a_head_that_takes_no_calls_is_unreachable_after_seconds(server: socket.socket) -> None:
    address = address_of(server)
    server.close()
    said = told_of(address, [0.0, REFUSES_S + 1, REFUSES_S + 2, 0.1, 0.5])
    assert len(said) == 2
    assert "unreachable since" in said[0]
    assert "`overtone resume /results/run`" in said[0]
    assert said[1].endswith("answers again")


def test_a_head_that_takes_calls_may_be_busy_for_longer(server: socket.socket) -> None:
    assert told_of(address_of(server), [REFUSES_S + 1, SILENT_S - 1]) == []
    assert len(told_of(address_of(server), [SILENT_S + 1])) == 1


@pytest.mark.parametrize(("value", "seconds"), [("15", 15.0), ("x", 60.0), (None, 60.0)])
def test_rays_own_limit_is_told(monkeypatch: pytest.MonkeyPatch, value: str | None, seconds: float) -> None:
    if value is None:
        monkeypatch.delenv("RAY_gcs_rpc_server_reconnect_timeout_s", raising=False)
    else:
        monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", value)
    assert limit_s() == seconds
