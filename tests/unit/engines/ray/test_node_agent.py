"""What a node tells the driver."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.engines.ray.connection import TOKEN_BYTES
from overtone.engines.ray.driver_place import DriverPlace
from overtone.engines.ray.node_agent import Errand, Relay, relay, told
from overtone.engines.ray.prints import LINES_AT_ONCE
from overtone.engines.ray.state import name_of
from overtone.worker.message_codec import CALLER, message_reader
from overtone.worker.protocol import event


class FakeEngine:
    """Hands out batches of events; the driver hangs up after the last."""

    def __init__(self, batches: list[list[m.Event]]) -> None:
        self.batches = batches
        self.hang_up: Callable[[], None] = lambda: None
        self.submitted: list[m.Command] = []

    def watch(self, sock: socket.socket, call: Callable[[int], None]) -> None:
        self.call = call

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        if not self.batches:
            self.hang_up()
            self.call(1)
            return []
        return self.batches.pop(0)

    def submit(self, commands: Sequence[m.Command]) -> None:
        self.submitted += commands

    def kill(self, trial_id: str) -> None: ...

    def start_ranks(self, orders: Any, has_head: bool) -> None: ...

    def end_ranks(self, trial_id: str, attempt: int, generation: int) -> None: ...

    def new_ranks(self) -> list[tuple[str, int, list[int]]]:
        return []

    def wake(self) -> None: ...

    def close(self) -> None: ...


class EndsWithItsDriver(FakeEngine):
    """Ray ends the process while the engine closes."""

    def open(self, packed: bytes, job: Job) -> EndsWithItsDriver:
        (job.folder / "half-saved").write_text("1")
        return self

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        raise SystemExit(1)

    def close(self) -> None:
        raise SystemExit(1)


def test_an_agent_that_is_ended_leaves_nothing_and_sweeps_what_others_left(tmp_path: Path) -> None:
    left = tmp_path / "yard" / "left by a killed agent"
    left.mkdir(parents=True)
    job = Job(None, "train", tmp_path / "yard" / "run" / "name")
    engine: Any = EndsWithItsDriver([])
    with socket.create_server(("127.0.0.1", 0)) as driver:
        errand = Errand(
            driver.getsockname(), bytes(TOKEN_BYTES), "a", engine, job, job, (b"", b""), "", DriverPlace.here()
        )
        with pytest.raises(SystemExit):
            relay(errand, lambda reference: b"")
    assert [one.name for one in (tmp_path / "yard").iterdir()] == [".lock"]


def test_events_travel_in_batches_after_a_hello() -> None:
    mine, theirs = socket.socketpair()
    reported = m.Reported(1.0, "t", 0, 1, {}, None, '{"loss":1}')
    ended = m.Ended(2.0, "t", 0, "returned")
    engine = FakeEngine([[m.CapacityChanged(0.0, {})], [reported, ended]])
    engine.hang_up = lambda: theirs.shutdown(socket.SHUT_WR)
    Relay(mine, engine, "10.0.0.1").run()  # type: ignore[arg-type]
    mine.close()
    data = b""
    while more := theirs.recv(1 << 16):
        data += more
    theirs.close()
    hello, *rest = message_reader(CALLER).feed(data)
    assert hello[:2] == ("node", "10.0.0.1")
    assert [event(one, 5.0, "10.0.0.1") for one in rest] == [
        m.Reported(5.0, "t", 0, 1, {"loss": 1}), m.Ended(5.0, "t", 0, "returned"),
    ]  # fmt: skip


def test_every_event_of_a_trial_travels() -> None:
    events: list[Any] = [
        m.Started(5.0, "t", 1, "n", 7, "host"), m.SaveFailed(5.0, "t", 1, "full"), m.Ended(5.0, "t", 1, "raised", "e", "tb"),
        m.Ended(5.0, "t", 1, "raised", "e", "tb", is_hopeless=True), m.Noticed(5.0, "t", 1, 3.0),
    ]  # fmt: skip
    for one in events:
        message = told(one)
        assert message is not None
        assert event(message, 5.0, "n") == one
    assert told(m.Tick(1.0)) is None


def test_a_trial_that_prints_too_much_is_cut_short() -> None:
    mine, theirs = socket.socketpair()
    engine = FakeEngine([])
    relay = Relay(mine, engine, "n")  # type: ignore[arg-type]
    engine.on_lines("t", "train_t", 7, "stdout", ["x"] * (2 * LINES_AT_ONCE))  # type: ignore[attr-defined]
    (_, output) = relay._out
    assert len(output[5]) == LINES_AT_ONCE
    engine.on_lines("t", "train_t", 8, "stdout", ["y"])  # type: ignore[attr-defined]
    engine.on_lines("t", "train_t", 7, "stdout", ["x"])  # type: ignore[attr-defined]
    assert relay._out[2:] == [("output", "t", "train_t", 8, "stdout", ["y"])]  # each rank by itself
    mine.close()
    theirs.close()


def test_nodes_at_one_address_have_names_of_their_own() -> None:
    assert name_of("10.0.0.1", []) == "10.0.0.1"
    assert name_of("10.0.0.1", ["10.0.0.1", "10.0.0.1#2"]) == "10.0.0.1#3"
